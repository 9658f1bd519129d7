// What others can read of a server, beside what it sends.
import { expect } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join, relative } from 'node:path'
import type postgres from 'postgres'

/** What other users of the machine can read of it: the arguments of every process. */
export const processes = async (): Promise<string> => {
  const lines = (await readdir('/proc'))
    .filter((name) => /^\d+$/.test(name))
    .map((pid) =>
      Bun.file(`/proc/${pid}/cmdline`)
        .text()
        .catch(() => ''),
    )
  return (await Promise.all(lines)).join('\n')
}

/** Every row of every table. */
export const everyRow = async (database: postgres.Sql): Promise<string> => {
  const tables = await database<{ name: string }[]>`
    select format('%I.%I', table_schema, table_name) as name from information_schema.tables
    where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`
  expect(tables.length).toBeGreaterThan(5)
  const rows = await Promise.all(tables.map(({ name }) => database.unsafe<{ row: string }[]>(`select t::text as row from ${name} t`)))
  return rows.flat().map(({ row }) => row).join('\n') // prettier-ignore
}

/** Every file below a folder, by its path there. */
export const everyFile = (folder: string): [path: string, bytes: Uint8Array][] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .map((path) => [relative(folder, path), readFileSync(path)])
