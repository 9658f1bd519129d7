-- What held peeks need. A program from before knows nothing of them, and shows a team that is asleep as idle or disconnected.
-- oldest program: 0008_operation_ids
CREATE TABLE "wakes" (
	"session_id" uuid PRIMARY KEY NOT NULL,
	"since" timestamp(3) with time zone DEFAULT now() NOT NULL,
	"taken" integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
ALTER TABLE "participants" ADD COLUMN "slept_at" timestamp(3) with time zone;--> statement-breakpoint
ALTER TABLE "participants" ADD COLUMN "sleeping_until" timestamp(3) with time zone;--> statement-breakpoint
ALTER TABLE "participants" ADD COLUMN "woken_cursor" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "wakes" ADD CONSTRAINT "wakes_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "events_of_people" ON "events" USING btree ("session_id","sequence") WHERE "events"."author" = 'person' and "events"."source_line" is null;