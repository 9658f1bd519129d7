-- oldest program: 0008_operation_ids
-- Claims that ended while their session was concluded or archived, to be told when it goes on. A program from before writes none, and tells of
-- none.
ALTER TABLE "items" ADD COLUMN "untold" jsonb;