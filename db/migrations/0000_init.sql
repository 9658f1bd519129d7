CREATE TABLE "acks" (
	"session_id" uuid NOT NULL,
	"team_id" uuid NOT NULL,
	"cursor" bigint NOT NULL,
	"at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "acks_session_id_team_id_pk" PRIMARY KEY("session_id","team_id")
);
--> statement-breakpoint
CREATE TABLE "events" (
	"session_id" uuid NOT NULL,
	"sequence" bigint NOT NULL,
	"id" uuid NOT NULL,
	"turn" integer NOT NULL,
	"ordinal" integer NOT NULL,
	"type" text NOT NULL,
	"author" text NOT NULL,
	"author_name" text,
	"posted_by_team_id" uuid,
	"content" jsonb NOT NULL,
	"size" integer NOT NULL,
	"reply_to" uuid,
	"to_team_ids" uuid[],
	"task_id" uuid,
	"terminal" boolean,
	"tool_name" text,
	"model" text,
	"originating_model" text,
	"source_line" text,
	"at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "events_session_id_sequence_pk" PRIMARY KEY("session_id","sequence"),
	CONSTRAINT "events_type" CHECK ("events"."type" in ('chat', 'system', 'user_input', 'assistant_response', 'reasoning', 'tool_call', 'tool_response', 'compaction', 'runtime', 'unknown'))
);
--> statement-breakpoint
CREATE TABLE "idempotency" (
	"scope" text NOT NULL,
	"caller" text NOT NULL,
	"key_hash" text NOT NULL,
	"operation" text NOT NULL,
	"body_hash" text NOT NULL,
	"answer" jsonb NOT NULL,
	"at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "idempotency_scope_caller_key_hash_pk" PRIMARY KEY("scope","caller","key_hash")
);
--> statement-breakpoint
CREATE TABLE "participants" (
	"session_id" uuid NOT NULL,
	"team_id" uuid NOT NULL,
	"token_hash" text NOT NULL,
	"team_name" text NOT NULL,
	"hue" smallint NOT NULL,
	"joined_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"left_at" timestamp (3) with time zone,
	"last_seen_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"polling_until" timestamp (3) with time zone,
	"last_seen_cursor" bigint NOT NULL,
	"delivered_cursor" bigint NOT NULL,
	CONSTRAINT "participants_session_id_team_id_pk" PRIMARY KEY("session_id","team_id")
);
--> statement-breakpoint
CREATE TABLE "session_doc_history" (
	"session_id" uuid NOT NULL,
	"version" integer NOT NULL,
	"content" text NOT NULL,
	"written_by_team_id" uuid,
	"written_by" text NOT NULL,
	"written_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "session_doc_history_session_id_version_pk" PRIMARY KEY("session_id","version")
);
--> statement-breakpoint
CREATE TABLE "session_docs" (
	"session_id" uuid PRIMARY KEY NOT NULL,
	"content" text DEFAULT '' NOT NULL,
	"version" integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE "sessions" (
	"id" uuid PRIMARY KEY NOT NULL,
	"title" text NOT NULL,
	"description" text NOT NULL,
	"status" text DEFAULT 'active' NOT NULL,
	"created_by_team_id" uuid,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"closed_at" timestamp (3) with time zone,
	"archived_at" timestamp (3) with time zone,
	"expected_teams" integer DEFAULT 2 NOT NULL,
	"last_sequence" bigint DEFAULT 0 NOT NULL,
	"last_conversation_sequence" bigint DEFAULT 0 NOT NULL,
	"last_event_at" timestamp (3) with time zone,
	"turn" integer DEFAULT 0 NOT NULL,
	"turn_holder" text,
	"turn_events" integer DEFAULT 0 NOT NULL,
	"parent_session_id" uuid,
	"forked_from_session_id" uuid,
	"forked_at_sequence" bigint,
	"resumed_from_session_id" uuid,
	"series_id" uuid NOT NULL,
	"agentic_tool" text,
	"agent_status" text,
	"permission_mode" text,
	"worktree_id" uuid,
	"source" text DEFAULT 'room' NOT NULL,
	CONSTRAINT "sessions_status" CHECK ("sessions"."status" in ('active', 'closed'))
);
--> statement-breakpoint
CREATE TABLE "settings" (
	"name" text PRIMARY KEY NOT NULL,
	"value" text NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "acks" ADD CONSTRAINT "acks_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "participants" ADD CONSTRAINT "participants_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "session_doc_history" ADD CONSTRAINT "session_doc_history_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "session_docs" ADD CONSTRAINT "session_docs_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "events_id" ON "events" USING btree ("id");--> statement-breakpoint
CREATE INDEX "events_conversation" ON "events" USING btree ("session_id","sequence") WHERE "events"."type" in ('chat', 'system', 'user_input');--> statement-breakpoint
CREATE INDEX "participants_name" ON "participants" USING btree ("team_name","joined_at");--> statement-breakpoint
CREATE INDEX "sessions_created" ON "sessions" USING btree ("created_at","id");--> statement-breakpoint
CREATE INDEX "sessions_series" ON "sessions" USING btree ("series_id","created_at");--> statement-breakpoint
CREATE INDEX "sessions_parent" ON "sessions" USING btree ("parent_session_id");--> statement-breakpoint
ALTER TABLE "sessions" SET (fillfactor = 50);--> statement-breakpoint
ALTER TABLE "participants" SET (fillfactor = 70);
