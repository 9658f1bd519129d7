-- oldest program: 0008_operation_ids
-- Summaries that a model wrote. A program from before goes on without them.
CREATE TABLE "summaries" (
	"session_id" uuid NOT NULL,
	"sequence" bigint NOT NULL,
	"asked_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	"ended_at" timestamp(3) with time zone,
	"text" text,
	CONSTRAINT "summaries_session_id_sequence_pk" PRIMARY KEY("session_id","sequence")
);
--> statement-breakpoint
ALTER TABLE "summaries" ADD CONSTRAINT "summaries_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;