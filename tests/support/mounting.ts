// Mounts of a test's own: only the programs that it runs see them, and they end with those. Not every user may have them.
import { RUNTIME, type Home, type Ran } from './client.ts'

const WITH_MOUNTS = ['unshare', '--user', '--map-root-user', '--mount']

export const canMount = Bun.which(WITH_MOUNTS[0]!) !== null && Bun.spawnSync([...WITH_MOUNTS, 'true']).exitCode === 0
if (!canMount) console.log('Skipped: tests with mounts, which this user may not make (unshare --user --mount).')

/** Runs a shell's line in the home folder, where $PARLEY calls the program. */
export const runWithMounts = ({ home, program }: Home, line: string): Ran => {
  const env = { PATH: process.env.PATH, HOME: home, PARLEY: `${RUNTIME} ${program}` }
  const { exitCode, stdout, stderr } = Bun.spawnSync([...WITH_MOUNTS, '/bin/sh', '-c', line], { cwd: home, env })
  return { code: exitCode, out: stdout.toString(), err: stderr.toString() }
}
