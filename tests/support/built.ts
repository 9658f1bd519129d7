// What browsers and people's machines load: public/app.css, public/app.js, the program `parley`, and the rest that components/styles.ts makes.
import { join } from 'node:path'
import { madeForAll } from './empty.ts'

/** Builds what is older than its sources. `bun run test` does so once, before all its processes. */
export const buildPublic = (): void => {
  if (madeForAll) return
  const { exitCode, stderr } = Bun.spawnSync([process.execPath, join(import.meta.dir, '../../components/styles.ts')])
  if (exitCode !== 0) throw new Error(stderr.toString())
}
