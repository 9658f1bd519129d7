import { defineConfig } from 'drizzle-kit'

// Only for `bun run db:generate`, which writes db/migrations from db/schema.ts; the server applies them at start.
export default defineConfig({
  dialect: 'postgresql',
  schema: [
    './db/schema.ts',
    './db/session-schema.ts',
    './db/people-schema.ts',
    './db/control-schema.ts',
    './db/records-schema.ts',
    './db/search-schema.ts',
  ],
  out: './db/migrations',
  casing: 'snake_case',
})
