CREATE TABLE "session_search" (
	"session_id" uuid PRIMARY KEY NOT NULL,
	"doc_version" integer NOT NULL,
	"head" text NOT NULL,
	"length" integer NOT NULL,
	"tsv" "tsvector" NOT NULL
);
--> statement-breakpoint
ALTER TABLE "session_search" ADD CONSTRAINT "session_search_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "session_search_tsv" ON "session_search" USING gin ("tsv");--> statement-breakpoint
CREATE INDEX "event_search_at" ON "event_search" USING btree ("at","kind");--> statement-breakpoint
CREATE INDEX "events_named" ON "events" USING btree ("author_name","session_id") WHERE "events"."author" <> 'agent' and "events"."author_name" is not null;--> statement-breakpoint
ALTER TABLE "session_search" ALTER COLUMN "tsv" SET STATISTICS 0;