-- oldest program: 0008_operation_ids
-- Agents of sessions, tasks, runners. A program from before goes on without them.
CREATE TABLE "agents" (
	"session_id" uuid PRIMARY KEY NOT NULL,
	"team_id" uuid NOT NULL,
	"root_session_id" uuid NOT NULL,
	"context_files" jsonb NOT NULL,
	"mcp_servers" jsonb NOT NULL,
	"conversation" text,
	"conversation_at" text,
	"from_task_id" uuid,
	"fork_conversation" text,
	"fork_conversation_at" text,
	"held" boolean DEFAULT false NOT NULL,
	"permission_limit" text,
	"max_usd" double precision,
	"error" jsonb,
	"ordered_from" uuid,
	"ordered_repo" text,
	"ordered_branch" text,
	"ordered_at" timestamp(3) with time zone,
	"order_told_at" timestamp(3) with time zone
);
--> statement-breakpoint
CREATE TABLE "permission_requests" (
	"id" text NOT NULL,
	"session_id" uuid NOT NULL,
	"task_id" uuid NOT NULL,
	"tool_name" text NOT NULL,
	"text" text NOT NULL,
	"input" jsonb,
	"raise" jsonb,
	"asked_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	"decided_at" timestamp(3) with time zone,
	"allow" boolean,
	"message" text,
	"decided_by" text,
	CONSTRAINT "permission_requests_session_id_id_pk" PRIMARY KEY("session_id","id")
);
--> statement-breakpoint
CREATE TABLE "runners" (
	"id" uuid PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"name_key" text NOT NULL,
	"key_id" uuid NOT NULL,
	"agents" jsonb NOT NULL,
	"mcp_servers" jsonb NOT NULL,
	"allow_bypass" boolean NOT NULL,
	"across" boolean NOT NULL,
	"parallel" integer NOT NULL,
	"registered_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	"seen_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	"ended_at" timestamp(3) with time zone
);
--> statement-breakpoint
CREATE TABLE "seats" (
	"holder" uuid NOT NULL,
	"session_id" uuid NOT NULL,
	"team_id" uuid NOT NULL,
	CONSTRAINT "seats_holder_session_id_pk" PRIMARY KEY("holder","session_id")
);
--> statement-breakpoint
CREATE TABLE "tasks" (
	"id" uuid PRIMARY KEY NOT NULL,
	"session_id" uuid NOT NULL,
	"status" text NOT NULL,
	"mode" text NOT NULL,
	"prompt" text NOT NULL,
	"prompted_by" jsonb NOT NULL,
	"message_id" uuid NOT NULL,
	"start_sequence" bigint NOT NULL,
	"turn" integer NOT NULL,
	"turn_events" integer,
	"permission_mode" text,
	"created_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	"started_at" timestamp(3) with time zone,
	"ended_at" timestamp(3) with time zone,
	"runner_id" uuid,
	"acknowledged" boolean DEFAULT false NOT NULL,
	"key_id" uuid,
	"interrupt_asked_at" timestamp(3) with time zone,
	"interrupt_told_at" timestamp(3) with time zone,
	"answer_message_id" uuid,
	"answer" text,
	"error" jsonb,
	"interrupted_by" jsonb,
	"end_sequence" bigint,
	"conversation" text,
	"conversation_at" text,
	"branch" text,
	"head" text,
	"usage" jsonb,
	"changes" jsonb,
	"finish" text
);
--> statement-breakpoint
CREATE TABLE "worktrees" (
	"id" uuid PRIMARY KEY NOT NULL,
	"runner_id" uuid NOT NULL,
	"path" text NOT NULL,
	"repo_full_name" text NOT NULL,
	"branch" text,
	"head" text,
	"dirty" boolean NOT NULL,
	"changed_files" integer,
	"made_for_session_id" uuid,
	"registered_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	"gone_at" timestamp(3) with time zone
);
--> statement-breakpoint
ALTER TABLE "agents" ADD CONSTRAINT "agents_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "permission_requests" ADD CONSTRAINT "permission_requests_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "runners" ADD CONSTRAINT "runners_key_id_keys_id_fk" FOREIGN KEY ("key_id") REFERENCES "public"."keys"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "seats" ADD CONSTRAINT "seats_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tasks" ADD CONSTRAINT "tasks_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "worktrees" ADD CONSTRAINT "worktrees_runner_id_runners_id_fk" FOREIGN KEY ("runner_id") REFERENCES "public"."runners"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "agents_root" ON "agents" USING btree ("root_session_id");--> statement-breakpoint
CREATE INDEX "agents_ordered" ON "agents" USING btree ("ordered_from") WHERE "agents"."ordered_from" is not null;--> statement-breakpoint
CREATE INDEX "permission_requests_open" ON "permission_requests" USING btree ("asked_at") WHERE "permission_requests"."decided_at" is null;--> statement-breakpoint
CREATE UNIQUE INDEX "runners_name" ON "runners" USING btree ("name_key") WHERE "runners"."ended_at" is null;--> statement-breakpoint
CREATE INDEX "runners_key" ON "runners" USING btree ("key_id");--> statement-breakpoint
CREATE INDEX "tasks_session" ON "tasks" USING btree ("session_id","start_sequence");--> statement-breakpoint
CREATE INDEX "tasks_open" ON "tasks" USING btree ("created_at","id") WHERE "tasks"."status" in ('queued', 'running');--> statement-breakpoint
CREATE UNIQUE INDEX "tasks_running" ON "tasks" USING btree ("session_id") WHERE "tasks"."status" = 'running' and "tasks"."runner_id" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "tasks_message" ON "tasks" USING btree ("message_id");--> statement-breakpoint
CREATE UNIQUE INDEX "worktrees_path" ON "worktrees" USING btree ("runner_id","path");--> statement-breakpoint
CREATE INDEX "worktrees_repository" ON "worktrees" USING btree ("repo_full_name");