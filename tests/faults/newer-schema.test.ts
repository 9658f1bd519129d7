// A newer program has migrated the database before this one starts, or while it runs. Its migration says which older programs may go on.
import { describe, expect, test } from 'bun:test'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { oldestProgramOf } from '../../db/migrate.ts'
import { runServer, startServer } from '../support/server.ts'
import { databaseOf, HERE } from './engines.ts'
import { openRoom, post, until } from './rooms.ts'
import { FULL, shortOf } from '../support/full.ts'

const ROOT = join(import.meta.dir, '../..')
const SENTENCE = 'this program is too old to run on it. Update this program, or restore a backup'

interface Journal {
  entries: { idx: number; version: string; when: number; tag: string; breakpoints: boolean }[]
}

/** This program with one migration more, and what it says of older ones. */
const newerProgram = (declaration: (newestOfOurs: string) => string) => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-newer-'))
  for (const name of ['src', 'db', 'components', 'public', 'package.json', 'AGENTS.md'])
    cpSync(join(ROOT, name), join(folder, name), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  const path = join(folder, 'db/migrations/meta/_journal.json')
  const journal = JSON.parse(readFileSync(path, 'utf8')) as Journal
  const last = journal.entries.at(-1)!
  journal.entries.push({ ...last, idx: last.idx + 1, when: last.when + 1_000, tag: '9999_later' })
  writeFileSync(path, JSON.stringify(journal))
  writeFileSync(join(folder, 'db/migrations/9999_later.sql'), `${declaration(last.tag)}ALTER TABLE "sessions" ADD COLUMN "later" text;`)
  return {
    migrate(environment: Record<string, string>) {
      const env = { ...process.env, ...environment }
      const { status, stdout, stderr } = spawnSync(process.execPath, ['src/server.ts', 'migrate'], { cwd: folder, env, encoding: 'utf8' })
      expect(`${stdout}${stderr}`).toContain('Applied 1 migration')
      expect(status).toBe(0)
    },
    remove: () => rmSync(folder, { recursive: true }),
  }
}

const expectTooOld = async (environment: Record<string, string>) => {
  for (const command of shortOf([[], ['migrate'], ['operator-key'], ['reindex']], 2)) {
    const { code, output } = await runServer(command, { ...environment, PORT: '0' })
    expect(output).toContain(SENTENCE)
    expect(output).not.toContain(' at ')
    expect(code).toBe(1)
  }
}

describe.each(HERE)('on %s', (engine) => {
  /** A database that a server of ours has used, and a newer program has migrated since. */
  const migratedSince = async (declaration: (newestOfOurs: string) => string) => {
    const { environment, drop } = await databaseOf(engine)
    const server = await startServer(environment)
    const room = await openRoom(server.url)
    expect((await post(room, 'before')).status).toBe(200)
    await server.terminate()
    const newer = newerProgram(declaration)
    newer.migrate({ DATA_DIR: server.folder, ...environment })
    const remove = async () => {
      newer.remove()
      await server.remove()
      await drop()
    }
    return { environment: { DATA_DIR: server.folder, ...environment }, server, room, remove }
  }

  test.skipIf(!FULL)(
    'a migration that allows programs as old as this one: it starts, and works',
    async () => {
      const { server, room, remove } = await migratedSince((ours) => `-- oldest program: ${ours}\n`)
      try {
        await server.restart()
        expect((await post(room, 'after')).body.cursor).toBe(3)
      } finally {
        await remove()
      }
    },
    180_000,
  )

  for (const [what, declaration] of [
    ['says nothing of older programs', ''],
    ['allows none that does not have it', '-- oldest program: 9999_later\n'],
  ] as const)
    test.skipIf(!FULL)(
      `a migration that ${what}: start and commands end with a sentence`,
      async () => {
        const { environment, remove } = await migratedSince(() => declaration)
        try {
          await expectTooOld(environment)
        } finally {
          await remove()
        }
      },
      180_000,
    )
})

test('a newer program that comes while this one runs ends it, in good order, if it says so, and then start and commands end likewise', async () => {
  const { environment, drop } = await databaseOf('postgres')
  const server = await startServer(environment)
  const newer = newerProgram(() => '')
  try {
    const room = await openRoom(server.url)
    expect((await post(room, 'before')).status).toBe(200)
    newer.migrate(environment)
    await until('it has ended', 60_000, () => !server.running)
    expect(server.output()).toContain(SENTENCE)
    await expectTooOld(environment)
  } finally {
    newer.remove()
    await server.remove()
    await drop()
  }
}, 180_000)

test('a migration names an older program by the newest migration of that', () => {
  const journal = {
    entries: [
      { when: 1, tag: '0001_one' },
      { when: 2, tag: '0002_two' },
    ],
  }
  expect(oldestProgramOf('-- oldest program: 0001_one\nselect 1', 2, journal)).toBe(1)
  expect(oldestProgramOf('select 1', 2, journal)).toBe(2)
  expect(() => oldestProgramOf('-- oldest program: 0003_three\nselect 1', 2, journal)).toThrow('names no migration')
})
