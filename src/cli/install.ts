// Installs what package.json names, one start at a time: two `bun install` in one folder collide ("EEXIST: failed copying files from
// cache"). It runs before anything is installed, so it uses only Node's modules and our own lock.
//   bun src/cli/install.ts
import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { FolderInUse, lockFolder } from '../../db/lock.ts'

const ROOT = join(import.meta.dirname, '../..')
const PACKAGES = join(ROOT, 'node_modules')
const RETRY_EVERY_MS = 100

const main = async () => {
  const lock = await inTurn(join(PACKAGES, '.installing'))
  const args = ['install', '--frozen-lockfile', '--no-progress']
  const { status, stdout, stderr, error } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' })
  lock?.release()
  if (status === 0) return
  console.error(`The packages could not be installed:\n${error?.message ?? `${stderr}${stdout}`}`)
  process.exit(1)
}

// A folder that cannot be written to, as in a read-only image, needs no lock: nothing can be installed there either.
const inTurn = async (folder: string) => {
  for (let waited = false; ; waited = true) {
    try {
      mkdirSync(PACKAGES, { recursive: true })
      return await lockFolder(folder)
    } catch (error) {
      if (!(error instanceof FolderInUse)) return undefined
      if (!waited) console.log(`Another start installs the packages in this folder: waiting until it has.${error.wayOut}`)
      await sleep(RETRY_EVERY_MS)
    }
  }
}

await main()
