-- oldest program: 0008_operation_ids
ALTER TABLE "events" ADD COLUMN "by_team_id" uuid;