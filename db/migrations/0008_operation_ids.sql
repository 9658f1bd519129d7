-- An operation is named with its toolset, so that two toolsets may have a create_session. A program from before would take its own keys
-- for those of another operation, and so none may run beside this.
UPDATE "idempotency" SET "operation" = 'rooms.' || "operation" WHERE "operation" NOT LIKE '%.%' AND "operation" <> 'import_trace';
