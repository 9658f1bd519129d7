-- oldest program: 0008_operation_ids
-- Persons, proposals, decisions, the items of boards. A program from before goes on without them.
CREATE EXTENSION IF NOT EXISTS "pg_trgm";
--> statement-breakpoint
CREATE TABLE "decisions" (
	"id" uuid PRIMARY KEY NOT NULL,
	"session_id" uuid NOT NULL,
	"proposal_id" uuid NOT NULL,
	"title" text NOT NULL,
	"description" text NOT NULL,
	"rationale" text,
	"decided_by" jsonb,
	"decided_by_id" uuid,
	"at" timestamp(3) with time zone NOT NULL,
	"withdrawn_at" timestamp(3) with time zone,
	"withdrawn_by" jsonb,
	"withdrawn_reason" text,
	CONSTRAINT "decisions_proposalId_unique" UNIQUE("proposal_id")
);
--> statement-breakpoint
CREATE TABLE "items" (
	"id" uuid PRIMARY KEY NOT NULL,
	"session_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"proposal_id" uuid,
	"title" text NOT NULL,
	"description" text DEFAULT '' NOT NULL,
	"status" text DEFAULT 'open' NOT NULL,
	"priority" text DEFAULT 'medium' NOT NULL,
	"depends_on" uuid[] NOT NULL,
	"paths" jsonb NOT NULL,
	"owner" jsonb,
	"owner_id" uuid,
	"due_date" timestamp(3) with time zone,
	"planned_by" jsonb NOT NULL,
	"planned_by_team_id" uuid,
	"place" integer NOT NULL,
	"claimed_team_id" uuid,
	"claimed_team_name" text,
	"claimed_at" timestamp(3) with time zone,
	"claim_renewed_at" timestamp(3) with time zone,
	"overlap_allowed" boolean DEFAULT false NOT NULL,
	"note" text,
	"result" text,
	"created_at" timestamp(3) with time zone NOT NULL,
	"updated_at" timestamp(3) with time zone NOT NULL,
	CONSTRAINT "items_proposalId_unique" UNIQUE("proposal_id")
);
--> statement-breakpoint
CREATE TABLE "persons" (
	"kind" text NOT NULL,
	"name" text NOT NULL,
	"person_id" uuid NOT NULL,
	CONSTRAINT "persons_kind_name_pk" PRIMARY KEY("kind","name")
);
--> statement-breakpoint
CREATE TABLE "proposals" (
	"id" uuid PRIMARY KEY NOT NULL,
	"session_id" uuid NOT NULL,
	"type" text NOT NULL,
	"data" jsonb NOT NULL,
	"proposed" jsonb,
	"title_key" text NOT NULL,
	"status" text DEFAULT 'pending' NOT NULL,
	"proposed_by" jsonb NOT NULL,
	"team_id" uuid,
	"created_at" timestamp(3) with time zone NOT NULL,
	"expires_at" timestamp(3) with time zone NOT NULL,
	"resolved_at" timestamp(3) with time zone,
	"resolved_by" jsonb,
	"feedback" text,
	"edited" jsonb,
	"record_id" uuid,
	"replaces" uuid,
	"source" jsonb
);
--> statement-breakpoint
ALTER TABLE "decisions" ADD CONSTRAINT "decisions_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "items" ADD CONSTRAINT "items_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "proposals" ADD CONSTRAINT "proposals_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "decisions_session" ON "decisions" USING btree ("session_id","at");--> statement-breakpoint
CREATE INDEX "decisions_at" ON "decisions" USING btree ("at","id");--> statement-breakpoint
CREATE INDEX "decisions_by" ON "decisions" USING btree ("decided_by_id","at");--> statement-breakpoint
CREATE INDEX "decisions_words" ON "decisions" USING gin ("title" gin_trgm_ops,("title" || ' ' || "description") gin_trgm_ops);--> statement-breakpoint
CREATE UNIQUE INDEX "items_session" ON "items" USING btree ("session_id","place");--> statement-breakpoint
CREATE INDEX "items_created" ON "items" USING btree ("created_at","id") WHERE "items"."kind" = 'action';--> statement-breakpoint
CREATE INDEX "items_owner" ON "items" USING btree ("owner_id","created_at") WHERE "items"."kind" = 'action';--> statement-breakpoint
CREATE INDEX "items_claimed" ON "items" USING btree ("claim_renewed_at") WHERE "items"."status" = 'claimed';--> statement-breakpoint
CREATE INDEX "items_words" ON "items" USING gin ("title" gin_trgm_ops,("title" || ' ' || "description") gin_trgm_ops) WHERE "items"."kind" = 'action';--> statement-breakpoint
CREATE INDEX "persons_id" ON "persons" USING btree ("person_id");--> statement-breakpoint
CREATE INDEX "proposals_session" ON "proposals" USING btree ("session_id","created_at");--> statement-breakpoint
CREATE INDEX "proposals_listed" ON "proposals" USING btree ("status","created_at","id");--> statement-breakpoint
CREATE INDEX "proposals_resolved" ON "proposals" USING btree ("resolved_at","id");--> statement-breakpoint
CREATE INDEX "proposals_team" ON "proposals" USING btree ("team_id");--> statement-breakpoint
CREATE INDEX "proposals_due" ON "proposals" USING btree ("expires_at") WHERE "proposals"."status" = 'pending';--> statement-breakpoint
CREATE UNIQUE INDEX "proposals_title" ON "proposals" USING btree ("session_id","type","title_key") WHERE "proposals"."status" = 'pending';--> statement-breakpoint
CREATE INDEX "participants_team" ON "participants" USING btree ("team_id");--> statement-breakpoint
CREATE INDEX "sessions_words" ON "sessions" USING gin ("title" gin_trgm_ops,("title" || ' ' || "description") gin_trgm_ops);--> statement-breakpoint
CREATE INDEX "seats_session" ON "seats" USING btree ("session_id","team_id");