// Earlier versions of this program, each as it was committed, in a folder of its own.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const ROOT = join(import.meta.dir, '../..')

/** Versions that databases come from, the oldest first: their commits. Of each there is a dump in tests/data/upgrades (tests/make-dumps.ts). */
export const EARLIER = ['a5bad74', '395307d', '83b2536', '310b95b', 'd9632b6', '9d287be'] as const

/** Those that may run beside this version: since 83b2536 they know that they may (`-- oldest program` in db/migrations). */
export const BESIDE = EARLIER.slice(2)

export interface EarlierProgram {
  folder: string
  /** The number of its newest migration, as 0012. */
  schema: string
  remove(): void
}

/** Why there is no such program here: no git, or a clone that does not reach back so far. Undefined when there is one. */
export const missing = (commit: string): string | undefined => {
  const { status, error } = git('cat-file', '-e', `${commit}^{commit}`)
  return error ? 'git is not installed' : status === 0 ? undefined : `this clone does not have commit ${commit} (git fetch --unshallow)`
}

/** The program of a commit with its packages, in a temporary folder. Throws with what git or bun said. */
export const earlierProgram = (commit: string): EarlierProgram => {
  const folder = mkdtempSync(join(tmpdir(), `parley-${commit}-`))
  const remove = () => rmSync(folder, { recursive: true })
  try {
    const archive = join(folder, 'archive.tar')
    writeFileSync(archive, said(git('archive', commit)))
    for (const command of [
      ['tar', '-xf', archive],
      [process.execPath, 'install', '--frozen-lockfile'],
    ])
      said(spawnSync(command[0]!, command.slice(1), { cwd: folder }))
    rmSync(archive)
    const newest = readdirSync(join(folder, 'db/migrations'))
      .filter((name) => name.endsWith('.sql'))
      .toSorted()
      .at(-1)!
    return { folder, schema: newest.slice(0, 4), remove }
  } catch (error) {
    remove()
    throw error
  }
}

const git = (...words: string[]) => spawnSync('git', words, { cwd: ROOT, maxBuffer: 1 << 28 })

const said = ({ status, stdout, stderr }: ReturnType<typeof git>): Buffer => {
  if (status !== 0) throw new Error(stderr?.toString() ?? 'did not start')
  return stdout
}
