-- oldest program: 0008_operation_ids
-- Sessions that were purged. A program from before shows such a row as one that was archived with nothing in it.
ALTER TABLE "sessions" ADD COLUMN "purged_at" timestamp(3) with time zone;