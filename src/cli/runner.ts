// `bun run runner …` in a checkout: the command of the program `parley`. Where it is told neither hub nor key, it works for the server
// that has the embedded database open, with a key that is made for it once and kept beside that database.
import { join } from 'node:path'
import { readOwn, writeOwn } from '../client/folder.ts'
import type { Machine } from '../client/machine.ts'
import { KINDS } from '../client/runner/built-in.ts'
import { namesHub, runnerNameIn } from '../client/runner/options.ts'
import { runRunner } from '../client/runner/run.ts'
import { BadConfig, VARIABLES, type Config } from '../config.ts'
import { answerOf } from './local-server.ts'

export interface ServerHere {
  url: string
  /** Makes a key of the scope run. */
  makeKey(name: string): Promise<string>
}

/** Returns the exit code. Throws BadConfig, or what the command itself throws. */
export const runRunnerHere = async (
  machine: Machine,
  words: string[],
  { DATA_DIR, DATABASE_URL }: Pick<Config, 'DATA_DIR' | 'DATABASE_URL'>,
  server: ServerHere | undefined,
): Promise<number> => {
  const own = { ...machine, env: withoutServerSecrets(machine.env) }
  const named = namesHub(words)
  const isNamed = named.hub || named.key || own.env.PARLEY_RUNNER_KEY || words.includes('--help')
  if (isNamed) return runRunner(['runner', ...words], own, KINDS)
  if (!server)
    throw new BadConfig(
      DATABASE_URL
        ? 'The database is a Postgres (DATABASE_URL), and what serves it is not known here. Name the hub: --hub LINK, with a key in PARLEY_RUNNER_KEY (bun run key run NAME).'
        : `No server has ${DATA_DIR} open. Start it (bun run start), or name a hub: --hub LINK, with its key in PARLEY_RUNNER_KEY.`,
    )
  const say = (line: string) => machine.err.write(`${line}\n`)
  const key = await keptKey(join(DATA_DIR, 'runner-keys.json'), runnerNameIn(words), server, say)
  return runRunner(['runner', ...words, '--hub', server.url], { ...own, env: { ...own.env, PARLEY_RUNNER_KEY: key } }, KINDS)
}

// What is in a checkout's .env is the server's: an agent needs none of it. Its model's key may be there too.
const withoutServerSecrets = (env: Machine['env']): Machine['env'] =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !SERVER_SECRETS.has(name) || name.startsWith('ANTHROPIC_')))

const SERVER_SECRETS = new Set(Object.entries(VARIABLES).flatMap(([name, variable]) => ('secret' in variable ? [name] : [])))

// A key belongs to the first runner name that registers with it, so each name has its own. The next start uses it again: to the hub a runner
// with another key would be a stranger who wants the name of one that may still be online.
const keptKey = async (file: string, name: string, server: ServerHere, say: (line: string) => void): Promise<string> => {
  const kept = readOwn<Record<string, string>>(file) ?? {}
  if (kept[name] !== undefined && (await isGood(kept[name], server))) return kept[name]
  const [other] = Object.keys(kept).filter((each) => each !== name)
  if (kept[name] === undefined && other !== undefined)
    say(
      `A key is made for a runner ${name}. The one that was called ${other} goes on, with its worktrees, by --name ${JSON.stringify(other)}.`,
    )
  const key = await server.makeKey(`runner ${name}`)
  writeOwn(file, { ...kept, [name]: key })
  return key
}

const isGood = async (key: string, { url }: ServerHere): Promise<boolean> => {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ runner_id: crypto.randomUUID(), timeout: 0 }) // of nobody: a good key gets another refusal
  const { status } = await answerOf(url, () => fetch(`${url}/api/runner/take`, { method: 'POST', headers, body }))
  return status !== 401
}
