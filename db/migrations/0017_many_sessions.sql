-- oldest program: 0008_operation_ids
-- What is looked up among very many sessions. A program from before goes on without: the hours are made by the database. Only the batches of an
-- import that it continues keep the time of the first one.
ALTER TABLE "imports" ADD COLUMN "at" timestamp(3) with time zone;--> statement-breakpoint
ALTER TABLE "imports" ALTER COLUMN "at" SET DEFAULT now();--> statement-breakpoint
ALTER TABLE "participants" ADD COLUMN "seen_hour" timestamp(3) with time zone GENERATED ALWAYS AS (date_trunc('hour', greatest(last_seen_at, polling_until, slept_at, sleeping_until) at time zone 'UTC') at time zone 'UTC') STORED;--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "active_hour" timestamp(3) with time zone GENERATED ALWAYS AS (date_trunc('hour', coalesce(last_event_at, created_at) at time zone 'UTC') at time zone 'UTC') STORED;--> statement-breakpoint
CREATE INDEX "imports_at" ON "imports" USING btree ("at");--> statement-breakpoint
CREATE INDEX "loops_suspected" ON "loops" USING btree ("suspected_at") WHERE "loops"."suspected_at" is not null;--> statement-breakpoint
CREATE INDEX "participants_seen" ON "participants" USING btree ("seen_hour") WHERE "participants"."left_at" is null;--> statement-breakpoint
CREATE INDEX "session_doc_history_written" ON "session_doc_history" USING btree ("written_at");--> statement-breakpoint
CREATE INDEX "sessions_forked" ON "sessions" USING btree ("forked_from_session_id") WHERE "sessions"."forked_from_session_id" is not null;--> statement-breakpoint
CREATE INDEX "sessions_resumed" ON "sessions" USING btree ("resumed_from_session_id") WHERE "sessions"."resumed_from_session_id" is not null;--> statement-breakpoint
CREATE INDEX "sessions_active" ON "sessions" USING btree ("active_hour","id");--> statement-breakpoint
CREATE INDEX "sessions_open" ON "sessions" USING btree ("active_hour","id") WHERE "sessions"."status" = 'active';--> statement-breakpoint
CREATE INDEX "sessions_concluded" ON "sessions" USING btree ("active_hour","id") WHERE "sessions"."status" = 'closed' and "sessions"."source" = 'room';--> statement-breakpoint
CREATE INDEX "sessions_traces" ON "sessions" USING btree ("active_hour","id") WHERE "sessions"."source" <> 'room';--> statement-breakpoint
CREATE INDEX "sessions_agent_status" ON "sessions" USING btree ("agent_status","created_at","id") WHERE "sessions"."agent_status" is not null;--> statement-breakpoint
CREATE INDEX "wakes_since" ON "wakes" USING btree ("since");--> statement-breakpoint
CREATE INDEX "keys_session" ON "keys" USING btree ("session_id") WHERE "keys"."session_id" is not null;