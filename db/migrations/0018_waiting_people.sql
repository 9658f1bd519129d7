-- oldest program: 0008_operation_ids
-- Who opened a session and who stopped its agent, by name, and an index of the questions to people. A program from before writes no names.
ALTER TABLE "sessions" ADD COLUMN "opened_by" text;--> statement-breakpoint
ALTER TABLE "agents" ADD COLUMN "held_by" text;--> statement-breakpoint
ALTER TABLE "agents" ADD COLUMN "held_at" timestamp(3) with time zone;--> statement-breakpoint
CREATE INDEX "events_asking_people" ON "events" USING btree ("at") WHERE "events"."expects_reply" and "events"."content" ? 'to_people';