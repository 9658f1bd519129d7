// `bun run key …` as the process that holds the database carries it out: the command's own, or the server that it is sent to.
import { z } from 'zod'
import { countKeys, listKeys, type KeyRecord } from '../../stores/keys.ts'
import { listPeople, type NamedPerson } from '../../stores/people.ts'
import type { Services } from '../../process/services.ts'
import { linkForPerson } from '../../process/sign-ins.ts'
import { runnerLine } from '../runner/start-line.ts'
import { makeKey, revokeByPrefix } from './keys.ts'

/** What the words after `bun run key` ask for. */
export const keyOrder = z.discriminatedUnion('do', [
  z.object({ do: z.literal('make'), scope: z.string(), name: z.string(), session: z.string().optional() }),
  z.object({ do: z.literal('person'), name: z.string() }),
  z.object({ do: z.literal('list') }),
  z.object({ do: z.literal('revoke'), prefix: z.string() }),
])
export type KeyOrder = z.infer<typeof keyOrder>

/** `out` is for the standard output, where a script takes it from; `note` is for the person at the terminal. */
export interface KeyAnswer {
  out: string
  note?: string
}

interface Addresses {
  base: string
  program?: string | undefined
}

/** Carries out an order. `base`: this server's address, for links; `program`: the URL of the program `parley`, for the line of a runner.
 *  Refuses with the codes of makeKey, revokeByPrefix and linkForPerson. */
export const carryOut = async (services: Services, order: KeyOrder, { base, program }: Addresses): Promise<KeyAnswer> => {
  switch (order.do) {
    case 'make': {
      const { scope, name, session: sessionId } = order
      const out = await makeKey(services, { scope, name, sessionId, by: 'the command line' })
      const note = 'It is not shown again. `bun run key list` has its prefix, by which it is revoked.'
      if (scope !== 'run') return { out, note }
      const where = program ? 'in a checkout of the repository' : 'in a checkout of Parley (PATH is that of the repository)'
      return { out, note: `${note}\nOn the runner's machine, ${where}:\n  ${runnerLine(base, program, out)}` }
    }
    case 'person': {
      const { token, name, expiresAt } = await linkForPerson(services, order.name)
      const note = `It signs ${name} in once, until ${expiresAt}, by the button on its page: opening it uses nothing up. Nobody else can sign in under this name. A new link replaces this one.`
      return { out: `${base}/sign-in?key=${token.handle}.${token.secret}`, note }
    }
    case 'list': {
      const { database } = services
      const [good, revoked, { tasks }] = [await listKeys(database, 'good'), await listKeys(database, 'revoked'), await countKeys(database)]
      const out = listed([...good, ...revoked], await listPeople(database))
      if (tasks === 0) return { out }
      return { out, note: `Not listed: ${tasks} of tasks under way, which end with them. The page /settings/keys has them.` }
    }
    case 'revoke': {
      const { prefix, name } = await revokeByPrefix(services, order.prefix)
      return { out: `Revoked ${prefix} (${name}). What was held or followed with it has ended.` }
    }
  }
}

const listed = (keys: KeyRecord[], people: NamedPerson[]): string =>
  [...keys.map(keyLine), ...people.map(personLine)].join('\n') || 'There are no keys. `bun run key full NAME` makes one.'

const keyLine = ({ prefix, name, sessionId, madeBy, madeAt, lastUsedAt, revokedAt }: KeyRecord): string =>
  [
    prefix,
    JSON.stringify(name),
    ...(sessionId ? [`session ${sessionId}`] : []),
    `made ${madeAt} by ${madeBy}`,
    lastUsedAt ? `used ${lastUsedAt}` : 'never used',
    ...(revokedAt ? [`REVOKED ${revokedAt}`] : []),
  ].join('  ')

const personLine = ({ name, linkExpiresAt, linkUsedAt }: NamedPerson): string =>
  ['person', JSON.stringify(name), linkUsedAt ? `link used ${linkUsedAt}` : `link unused, good until ${linkExpiresAt}`].join('  ')
