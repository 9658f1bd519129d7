CREATE TABLE "loops" (
	"session_id" uuid PRIMARY KEY NOT NULL,
	"suspected_at" timestamp(3) with time zone,
	"released_through" bigint DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE "shares" (
	"session_id" uuid PRIMARY KEY NOT NULL,
	"id" uuid NOT NULL,
	"token_hash" text NOT NULL,
	"shared_by" text NOT NULL,
	"shared_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "shares_id_unique" UNIQUE("id")
);
--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "convener_team_id" uuid;--> statement-breakpoint
ALTER TABLE "loops" ADD CONSTRAINT "loops_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "shares" ADD CONSTRAINT "shares_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
UPDATE "sessions" SET "convener_team_id" = "created_by_team_id";
