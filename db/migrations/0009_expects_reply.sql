-- oldest program: 0008_operation_ids
ALTER TABLE "events" ADD COLUMN "expects_reply" boolean;