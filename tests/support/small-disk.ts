// A small disk in memory, for tests of one that is full. It takes the right to mount: where that lacks, a test says that it was not tried.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface SmallDisk {
  path: string
  /** Unmounts it, with all that is on it. */
  remove(): void
}

/** A disk of so many MiB that every user may write to; undefined where this user may not mount one. */
export const smallDisk = (mib: number): SmallDisk | undefined => {
  const path = mkdtempSync(join(tmpdir(), 'parley-disk-'))
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${mib}m,mode=777`, 'tmpfs', path]).status === 0)
    return {
      path,
      remove() {
        spawnSync('umount', [path])
        rmSync(path, { recursive: true, force: true })
      },
    }
  rmSync(path, { recursive: true })
  console.log('Not tried: what happens on a full disk. This user may not mount a small one.')
  return undefined
}
