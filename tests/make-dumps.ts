// Makes tests/data/upgrades: of each earlier version a Postgres database as that version leaves it (SCHEMA-COMMIT.sql.gz), and what that version
// answered (SCHEMA-COMMIT.json.gz). tests/dump is what is run in each.
//   bun tests/make-dumps.ts [COMMIT…]    all of them, or those of these commits
import { spawnSync } from 'node:child_process'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { EARLIER, earlierProgram } from './support/earlier.ts'

const OUT = join(import.meta.dir, 'data/upgrades')

const commits = process.argv.slice(2)
for (const commit of commits.length > 0 ? commits : EARLIER) {
  const { folder, schema, remove } = earlierProgram(commit)
  try {
    cpSync(join(import.meta.dir, 'dump'), join(folder, 'tests/dump'), { recursive: true })
    const { status } = spawnSync(process.execPath, ['tests/dump/leave.ts', join(OUT, `${schema}-${commit}`)], {
      cwd: folder,
      stdio: 'inherit',
    })
    if (status !== 0) throw new Error(`no dump of ${commit}`)
    console.log(`${schema}-${commit}`)
  } finally {
    remove()
  }
}
