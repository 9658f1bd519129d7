// `connect CLIENT`: adds the hub to a client's settings, and what wakes its agent, after a person has seen the change.
import { existsSync } from 'node:fs'
import { aboutWaking, howToBegin, howToGoBack, whyMissing } from './advice.ts'
import { confirmed, typed } from './ask.ts'
import { keptFrom, refuseImpossible, type Choices } from './choices.ts'
import { CLIENTS, type Change, type ClientName, type Wish } from './clients.ts'
import { connectionsOf, connectionTo, keepConnection, type ChangedFile, type Connection } from './connections.ts'
import { callOf, makeCopy } from './copy.ts'
import { baseOfLink } from '../core/address.ts'
import { askHub, hostWord, hubConfigOf, isUnguarded, refusedAsUnguarded, Unreachable } from './hub.ts'
import { Stop, type Machine } from './machine.ts'
import { packageOf } from './package.ts'
import { changeAll } from './settings/change-all.ts'
import { planOf, shownDiff, type Planned } from './settings/plan.ts'
import { ownServer, serverNamed } from './settings/servers.ts'
import { currentToken, knownToken } from './tokens.ts'

export interface ConnectOptions extends Choices {
  link: string
  yes: boolean
}

const WITHIN_MS = 5_000

/** Throws Stop where it cannot be done; nothing is changed then. */
export const connect = async (machine: Machine, client: ClientName, options: ConnectOptions): Promise<void> => {
  const { link, insecure, yes } = options
  const kind = CLIENTS[client]
  refuseImpossible(options, kind)
  const all = connectionsOf(machine.home).filter((other) => other.client === client)
  const earlier = connectionTo(all, client, link)
  if (isUnguarded(link) && !insecure && !earlier) throw new Stop(refusedAsUnguarded(link, 'read what is sent, and run code on this one'))
  const kept = keptFrom(earlier, options, link)
  const wish = await wishOf(machine, client, options, earlier)
  const planned = changesFor(machine, client, wish, earlier).map((change) => planOf(change, earlier, all))
  const changed = planned.filter(({ before, after }) => before !== after)
  if (changed.length === 0 && earlier) {
    const { token, isTaken, wakeFor } = wish
    makeCopy(machine) // it may have been removed
    const files = [...planned.map(({ file }) => file), ...filesElsewhere(earlier, planned)]
    const { version } = packageOf(machine.program)
    keepConnection(machine.home, { ...earlier, link, token, wakeFor, version, files }, isTaken, earlier)
    machine.out.write(`${kind.title} is connected to ${link}: ${unchanged(wish, earlier)}\n${kept}`)
    return tell(machine, [whyMissing(client, machine), ...howToGoBack(machine, client, link)])
  }
  machine.out.write(`${changed.map(shownDiff).join('\n\n')}\n\n`)
  if (earlier && earlier.link !== link) tell(machine, [`This takes the place of ${earlier.link}: a client has one server for each hub.`])
  tell(machine, [aboutWaking(kind)])
  if (!yes && !(await confirmed(machine, `Change the settings of ${kind.title}?`))) throw new Stop('Nothing was changed.')
  makeCopy(machine)
  carryOut(machine, client, wish, planned, earlier)
  machine.out.write(`${kind.title} is connected to ${link} as "${wish.server}".\n${kept}`)
  tell(machine, [whyMissing(client, machine), ...howToBegin(client, link), ...howToGoBack(machine, client, link)])
}

const tell = ({ out }: Machine, lines: (string | undefined)[]): void => {
  for (const line of lines) if (line !== undefined) out.write(`${line}\n`)
}

// The files of another settings folder of the client: disconnect takes the hub out of those, too.
const filesElsewhere = (earlier: Connection | undefined, planned: Planned[]): ChangedFile[] =>
  earlier?.files.filter(({ path }) => existsSync(path) && planned.every((each) => each.path !== path)) ?? []

const carryOut = (machine: Machine, client: ClientName, wish: Asked, planned: Planned[], earlier: Connection | undefined): void => {
  const { link, server, token, isTaken, wakeFor, guard } = wish
  const { version } = packageOf(machine.program)
  const elsewhere = filesElsewhere(earlier, planned)
  const later = planned.flatMap((each) => each.later)
  changeAll(planned, (changed) => {
    const files = [...changed, ...elsewhere]
    keepConnection(machine.home, { client, link, server, token, wakeFor, guard, version, files }, isTaken, earlier, later)
  })
}

// A choice may change no setting: Codex has no hook there, and a person may have written a new token by hand.
const unchanged = ({ wakeFor, token }: Wish, earlier: Connection): string => {
  const renewed = [
    token !== earlier.token && 'the access token is kept as it is now.',
    wakeFor !== earlier.wakeFor && `--wake ${wakeFor} holds for the sessions that it joins from now on.`,
  ].filter((each) => each !== false)
  return renewed.join(' ') || 'nothing to change.'
}

/** `isTaken`: the hub has said that it takes the token. */
type Asked = Wish & { isTaken: boolean }

const wishOf = async (machine: Machine, client: ClientName, options: ConnectOptions, earlier: Connection | undefined): Promise<Asked> => {
  const { link, name } = options
  const guard = options.guard ?? earlier?.guard ?? false
  const wakeFor = options.wake ?? earlier?.wakeFor ?? 'all'
  const { token, isTaken } = await tokenFor(machine, link)
  const server = serverNamed(machine, client, link, { asked: name ?? earlier?.server, second: `parley-${hostWord(link)}`, added: earlier })
  return { link, token, isTaken, server, wakeFor, guard, call: callOf(machine) }
}

// A server that its person has added already stays as it is, and is not ours to remove.
const changesFor = (machine: Machine, client: ClientName, wish: Wish, earlier: Connection | undefined): Change[] => {
  const changes = CLIENTS[client].changes(machine, wish)
  const [first] = changes
  if (earlier?.files.some(({ path }) => path === first!.path) || !ownServer(machine, client, wish)) return changes
  return changes.slice(1)
}

// The hub's ACCESS_TOKEN, if it has one: the one that is kept, from PARLEY_TOKEN, or typed. Of a hub that is down or refuses nobody can
// tell whether it still takes the kept one: PARLEY_TOKEN, which a person gives now, counts.
const tokenFor = async (machine: Machine, link: string): Promise<Pick<Asked, 'token' | 'isTaken'>> => {
  const open = await opens(machine, link, undefined)
  if (open) return { token: undefined, isTaken: true }
  if (open === undefined) return { token: machine.env.PARLEY_TOKEN || knownToken(machine, link), isTaken: false }
  const given = (await currentToken(machine, link)) ?? (await typed(machine, 'This hub needs its access token: '))
  if (!given) throw new Stop('This hub needs its access token: ask its operator, set PARLEY_TOKEN, and run this again.')
  const isTaken = await opens(machine, link, given)
  if (isTaken === false) throw new Stop('The hub does not take this access token. Ask its operator for the current one.')
  return { token: given, isTaken: isTaken === true }
}

// Whether the hub opens with this token. Undefined while it is down, or refuses for another reason, such as too many requests: the person
// is told so, and what is written works once it is back.
const opens = async ({ err }: Machine, link: string, token: string | undefined): Promise<boolean | undefined> => {
  try {
    const answer = await askHub(baseOfLink(link), '/api/config', { token, withinMs: WITHIN_MS })
    if (answer.status === 401) return false
    if (hubConfigOf(answer)) return true
    const said: unknown = answer.body?.error?.message
    const { status } = answer
    if (typeof said === 'string' && (status === 403 || status === 429 || status >= 500))
      err.write(`${link} refuses for now (HTTP ${status}), and says: ${JSON.stringify(said)}\n`)
    else err.write(`${link} does not answer as a Parley does. Is the address right?\n`)
    return undefined
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error
    err.write(`${link} does not answer as Parley now (${error.message}). What is written works once it does.\n`)
    return undefined
  }
}
