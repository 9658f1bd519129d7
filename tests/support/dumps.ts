// Databases of earlier versions, as tests/make-dumps.ts left them in tests/data/upgrades.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import { openPostgres } from '../../db/postgres.ts'
import { EARLIER } from './earlier.ts'
import type { Engine, Opened } from './parley.ts'
import { embeddedFrom } from './pglite.ts'
import { emptyDatabase, startPostgres } from './postgres.ts'

const FOLDER = join(import.meta.dir, '../data/upgrades')

/** SCHEMA-COMMIT of each earlier version, the oldest first. */
export const DUMPS = EARLIER.map((commit) => {
  const file = readdirSync(FOLDER).find((name) => name.endsWith(`-${commit}.sql.gz`))
  if (!file) throw new Error(`There is no dump of ${commit}: bun tests/make-dumps.ts ${commit}`)
  return file.slice(0, -'.sql.gz'.length)
})

/** The number of the newest migration that a dump has. */
export const schemaOf = (dump: string): string => dump.split('-')[0]!

const unpacked = (name: string): string => new TextDecoder().decode(Bun.gunzipSync(readFileSync(join(FOLDER, name))))

/** The SQL of a dump, for an empty database. */
export const sqlOf = (dump: string): string => unpacked(`${dump}.sql.gz`)

/** What the earlier version answered; the later parts where it had them. tests/dump says what each is. */
export interface Before {
  at: string
  kept: {
    name: string
    input: Record<string, unknown>
    as: { team?: string; key: string; person?: boolean; bearer?: string }
    answer: Record<string, unknown>
  }[]
  rooms: { session_id: string; team: string; feed: { sequence: number }[]; doc: Record<string, unknown> }[]
  imported: { session_id: string }
  trace: Record<string, unknown>[]
  settings: { mcp_url: string; loop_guard: string }
  awake?: any
  control?: any
  records?: any
}
export const beforeOf = (dump: string): Before => JSON.parse(unpacked(`${dump}.json.gz`))

// An update takes minutes, and these dumps lie here for years: what ends after some time is as old as it was when they were made.
const AGEING = ['sign_ins', 'people', 'invitations', 'participants', 'runners', 'tasks', 'permission_requests', 'proposals', 'items']
const youngAgain = (at: string) => `do $$ declare one record; begin
  for one in select table_name as t, column_name as c from information_schema.columns
    where table_schema = 'public' and data_type = 'timestamp with time zone' and table_name in ('${AGEING.join("', '")}') loop
    execute format('update public.%I set %I = %I + (now() - %L::timestamptz)', one.t, one.c, one.c, '${at}');
  end loop;
end $$`

/** A database of this engine that holds the dump, which is not migrated yet. */
export const restored = async (engine: Engine, dump: string): Promise<Opened> => {
  const sql = `${sqlOf(dump)}; ${youngAgain(beforeOf(dump).at)}`
  if (engine === 'pglite') return { database: await embeddedFrom(sql), drop: async () => {} }
  const server = await startPostgres()
  const { url, drop } = await emptyDatabase(server.url)
  const client = postgres(url, { max: 1, onnotice: () => {} })
  await client.unsafe(sql)
  await client.end()
  return {
    database: await openPostgres(url),
    url,
    async drop() {
      await drop()
      await server.stop()
    },
  }
}
