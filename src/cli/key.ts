// The words after `bun run key`.
import type { KeyOrder } from '../control/keys/command.ts'
import { BadConfig } from '../config.ts'
import { takenApart } from './words.ts'

export const USAGE = `Use it as one of these:
  bun run key full|read|run NAME           makes a key, and prints it
  bun run key sess NAME --session ID       makes a key that belongs to one session
  bun run key person NAME                  prints a link that signs NAME in, once
  bun run key list                         lists the keys and the named people
  bun run key revoke PREFIX                revokes a key, e.g. ca_full_1a2b3c4d`

/** What is to be done. Throws BadConfig, whose message says how the command is used. */
export const keyArguments = (words: string[]): KeyOrder => {
  const failure = (message: string) => new BadConfig(`${message}\n${USAGE}`)
  const { positionals, values } = takenApart(words, { session: { type: 'string' } }, failure)
  const { session } = values
  const [what, ...rest] = positionals
  if (what === undefined) throw new BadConfig(USAGE)
  if (session !== undefined && ['list', 'revoke', 'person'].includes(what))
    throw new BadConfig(`--session goes with a new key alone.\n${USAGE}`)
  if (what === 'list') return rest.length === 0 ? { do: 'list' } : tooMany(rest)
  const [name, ...more] = rest
  if (more.length > 0) return tooMany(more, true)
  if (name === undefined || name.trim() === '') throw new BadConfig(`${what === 'revoke' ? 'A prefix' : 'A name'} is missing.\n${USAGE}`)
  if (what === 'revoke') return { do: 'revoke', prefix: name }
  if (what === 'person') return { do: 'person', name }
  return { do: 'make', scope: what, name, ...(session !== undefined && { session }) }
}

const tooMany = (words: string[], named = false): never => {
  const hint = named ? ' A name of several words stands in quotes.' : ''
  throw new BadConfig(`${JSON.stringify(words.join(' '))} is one word too many.${hint}\n${USAGE}`)
}
