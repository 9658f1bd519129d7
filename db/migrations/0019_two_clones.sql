-- oldest program: 0008_operation_ids
-- Of which clone a worktree is to be one, where a runner has several of a repository. A program from before writes none, and is given the first.
ALTER TABLE "agents" ADD COLUMN "ordered_repo_path" text;