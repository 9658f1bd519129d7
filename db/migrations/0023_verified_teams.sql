-- oldest program: 0008_operation_ids
-- Which teams joined with a key. Of those from before only the ones that have a seat are known to; a program from before writes none.
ALTER TABLE "participants" ADD COLUMN "verified" boolean DEFAULT false NOT NULL;--> statement-breakpoint
UPDATE "participants" SET "verified" = true FROM "seats" WHERE "seats"."session_id" = "participants"."session_id" AND "seats"."team_id" = "participants"."team_id";