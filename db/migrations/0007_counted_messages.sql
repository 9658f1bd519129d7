DROP INDEX "events_conversation";--> statement-breakpoint
ALTER TABLE "session_index" ADD COLUMN "messages" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
UPDATE "session_index" i SET "messages" = (SELECT count(*) FROM "events" e WHERE e."session_id" = i."session_id" AND e."sequence" <= i."indexed_sequence" AND e."type" IN ('chat', 'user_input'));
