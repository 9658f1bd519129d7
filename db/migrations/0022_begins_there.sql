-- oldest program: 0008_operation_ids
-- Whether the branch of a worktree that is being made begins at the HEAD of the one that was named. A program from before writes none: it begins
-- at that of the repository.
ALTER TABLE "agents" ADD COLUMN "ordered_begins_there" boolean DEFAULT false NOT NULL;