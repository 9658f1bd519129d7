// Files with an agent's key, for CLIs that read it from one. Each lies in a folder that names the runner's process, by which the guardian finds
// what a runner left that was killed.
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const prefixOf = (pid: number) => `parley-runner-${pid}-`

/** Writes a file that nobody else can read, in a folder of its own. `drop` removes both. */
export const writeKeyFile = (name: string, text: string): { file: string; drop: () => void } => {
  const folder = mkdtempSync(join(tmpdir(), prefixOf(process.pid)))
  const file = join(folder, name)
  writeFileSync(file, text, { mode: 0o600 })
  return { file, drop: () => rmSync(folder, { recursive: true, force: true }) }
}

/** Removes what the runner with this process id has left. A folder of that name may be another user's, and stays. */
export const dropKeyFilesOf = (pid: number): void => {
  for (const name of readdirSync(tmpdir()).filter((each) => each.startsWith(prefixOf(pid))))
    try {
      rmSync(join(tmpdir(), name), { recursive: true, force: true })
    } catch {
      // The others are removed all the same.
    }
}
