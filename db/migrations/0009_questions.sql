-- A message may be a question, which expects a reply. A program from before writes none, and shows those of others as plain messages.
-- oldest program: 0008_operation_ids
ALTER TABLE "events" ADD COLUMN "expects_reply" boolean;