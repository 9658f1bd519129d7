CREATE TABLE "imports" (
	"session_id" uuid PRIMARY KEY NOT NULL,
	"bytes" bigint NOT NULL,
	"lines" integer NOT NULL,
	"tail" text NOT NULL,
	"state" jsonb NOT NULL,
	"batches" integer NOT NULL
);
--> statement-breakpoint
ALTER TABLE "imports" ADD CONSTRAINT "imports_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;