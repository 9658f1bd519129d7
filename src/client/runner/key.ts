// Where the runner's key comes from.
import { readFileSync, statSync } from 'node:fs'
import { isKey, isMeantAsKey } from '../../core/key-scopes.ts'
import { reasonOf } from '../folder.ts'
import { BadCall, Stop, type Machine } from '../machine.ts'
import type { RunnerOptions } from './options.ts'

const OTHERS = 0o077

/** Throws Stop, with a sentence that never holds the key. */
export const runnerKey = ({ key, keyFile }: Pick<RunnerOptions, 'key' | 'keyFile'>, { env, err }: Pick<Machine, 'env' | 'err'>): string => {
  if (key !== undefined) {
    err.write('Everybody on this machine can see a key that is given with --key. Use --key-file or PARLEY_RUNNER_KEY.\n')
    return checked(key, '--key')
  }
  if (keyFile !== undefined) return checked(keyIn(keyFile), keyFile)
  if (env.PARLEY_RUNNER_KEY) return checked(env.PARLEY_RUNNER_KEY, 'PARLEY_RUNNER_KEY')
  throw new BadCall(
    'A runner needs a key: put it into PARLEY_RUNNER_KEY, or into a file and give --key-file FILE. `bun run key run NAME` makes one where the hub runs, and so does its page /settings/keys.',
  )
}

const keyIn = (file: string): string => {
  try {
    if ((statSync(file).mode & OTHERS) !== 0)
      throw new Stop(`${file} can be read by others, and a key opens this machine. Run: chmod 600 ${file}`)
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (error instanceof Stop) throw error
    throw new Stop(`--key-file: ${file} cannot be read: ${reasonOf(error)}.`)
  }
}

const checked = (given: string, from: string): string => {
  const key = given.trim()
  if (isKey(key) && key.startsWith('ca_run_')) return key
  const why = isMeantAsKey(key) && isKey(key) ? `a key of the scope ${key.split('_')[1]}` : 'no key'
  throw new Stop(`What ${from} holds is ${why}, and a runner needs one of the scope run (ca_run_…): \`bun run key run NAME\` makes it.`)
}
