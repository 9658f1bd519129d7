-- oldest program: 0008_operation_ids
-- Beside a program from before, people sign in once with each: its cookies are no rows, and it knows no rows.
CREATE TABLE "invitations" (
	"id" uuid PRIMARY KEY NOT NULL,
	"session_id" uuid NOT NULL,
	"code_hash" text NOT NULL,
	"made_by" text NOT NULL,
	"made_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp(3) with time zone NOT NULL,
	"joins" integer NOT NULL,
	"joined" integer DEFAULT 0 NOT NULL,
	"revoked_at" timestamp(3) with time zone
);
--> statement-breakpoint
CREATE TABLE "keys" (
	"id" uuid PRIMARY KEY NOT NULL,
	"key_hash" text NOT NULL,
	"prefix" text NOT NULL,
	"scope" text NOT NULL,
	"name" text NOT NULL,
	"session_id" uuid,
	"made_by" text NOT NULL,
	"made_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	"last_used_at" timestamp(3) with time zone,
	"revoked_at" timestamp(3) with time zone,
	CONSTRAINT "keys_keyHash_unique" UNIQUE("key_hash")
);
--> statement-breakpoint
CREATE TABLE "people" (
	"name_key" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"link_id" uuid NOT NULL,
	"link_hash" text NOT NULL,
	"link_made_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	"link_expires_at" timestamp(3) with time zone NOT NULL,
	"link_used_at" timestamp(3) with time zone,
	CONSTRAINT "people_linkId_unique" UNIQUE("link_id")
);
--> statement-breakpoint
CREATE TABLE "sign_ins" (
	"id" uuid PRIMARY KEY NOT NULL,
	"secret_hash" text NOT NULL,
	"name" text NOT NULL,
	"role" text NOT NULL,
	"verified" boolean NOT NULL,
	"under" text NOT NULL,
	"made_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	"last_used_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	"ended_at" timestamp(3) with time zone
);
--> statement-breakpoint
ALTER TABLE "participants" ADD COLUMN "invitation_id" uuid;--> statement-breakpoint
ALTER TABLE "invitations" ADD CONSTRAINT "invitations_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "keys" ADD CONSTRAINT "keys_session_id_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."sessions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "invitations_session" ON "invitations" USING btree ("session_id","made_at");--> statement-breakpoint
CREATE INDEX "sign_ins_made" ON "sign_ins" USING btree ("made_at");