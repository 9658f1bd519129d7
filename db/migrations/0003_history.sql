CREATE TABLE "event_search" (
	"session_id" uuid NOT NULL,
	"turn" integer NOT NULL,
	"sequence" bigint NOT NULL,
	"id" uuid NOT NULL,
	"kind" smallint NOT NULL,
	"at" timestamp(3) with time zone NOT NULL,
	"length" integer NOT NULL,
	"tsv" "tsvector" NOT NULL,
	"hot" "tsvector" NOT NULL,
	CONSTRAINT "event_search_session_id_turn_sequence_pk" PRIMARY KEY("session_id","turn","sequence")
);
--> statement-breakpoint
CREATE TABLE "search_corpus" (
	"id" smallint PRIMARY KEY NOT NULL,
	"events" bigint NOT NULL,
	"length" bigint NOT NULL,
	"rebuilding" bigint
);
--> statement-breakpoint
CREATE TABLE "search_terms" (
	"term" text COLLATE "C" PRIMARY KEY NOT NULL,
	"events" integer NOT NULL,
	"levels" integer[]
);
--> statement-breakpoint
CREATE TABLE "session_index" (
	"session_id" uuid PRIMARY KEY NOT NULL,
	"indexed_sequence" bigint DEFAULT 0 NOT NULL,
	"started_at" timestamp(3) with time zone NOT NULL,
	"updated_at" timestamp(3) with time zone NOT NULL,
	"mode" text DEFAULT 'chat' NOT NULL
);
--> statement-breakpoint
ALTER TABLE "session_index" ADD CONSTRAINT "session_index_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "event_search_tsv" ON "event_search" USING gin ("tsv");--> statement-breakpoint
CREATE INDEX "event_search_hot" ON "event_search" USING gin ("hot");--> statement-breakpoint
CREATE INDEX "search_terms_reversed" ON "search_terms" USING btree (reverse("term"));--> statement-breakpoint
CREATE INDEX "session_index_updated" ON "session_index" USING btree ("updated_at","session_id","started_at");--> statement-breakpoint
CREATE INDEX "session_index_mode" ON "session_index" USING btree ("mode","updated_at","session_id","started_at");--> statement-breakpoint
CREATE INDEX "events_terminal" ON "events" USING btree ("session_id","turn","sequence") WHERE "events"."terminal";--> statement-breakpoint
ALTER TABLE "event_search" ALTER COLUMN "tsv" SET STORAGE MAIN, ALTER COLUMN "hot" SET STORAGE MAIN, ALTER COLUMN "tsv" SET STATISTICS 0, ALTER COLUMN "hot" SET STATISTICS 0;--> statement-breakpoint
ALTER TABLE "event_search" SET (toast_tuple_target = 8160);--> statement-breakpoint
ALTER TABLE "search_terms" SET (fillfactor = 70);--> statement-breakpoint
INSERT INTO "search_corpus" ("id", "events", "length") VALUES (1, 0, 0);--> statement-breakpoint
INSERT INTO "session_index" ("session_id", "started_at", "updated_at") SELECT "id", "created_at", coalesce("last_event_at", "created_at") FROM "sessions";
