-- oldest program: 0008_operation_ids
-- Which dropped action items a person withdrew, those of before by the log. A program from before writes none: what is withdrawn there is dropped
-- as by a team.
ALTER TABLE "items" ADD COLUMN "withdrawn_at" timestamp(3) with time zone;--> statement-breakpoint
UPDATE "items" SET "withdrawn_at" = (SELECT max(e."at") FROM "events" e WHERE e."session_id" = "items"."session_id" AND e."type" = 'system' AND e."content"->>'event' = 'record_withdrawn' AND e."content"->>'record_id' = "items"."id"::text AND e."content"->>'reason' = "items"."note") WHERE "kind" = 'action' AND "status" = 'dropped';
