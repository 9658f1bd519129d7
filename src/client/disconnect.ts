// `disconnect CLIENT`: takes out of a client's settings what `connect` put in, and nothing else, and ends what wakes its agents.
import { confirmed } from './ask.ts'
import { CLIENTS, type ClientName } from './clients.ts'
import { connectionsOf, connectionTo, dropConnection, dropFolder, type Connection } from './connections.ts'
import { quoted } from '../core/text/shell-word.ts'
import { Stop, type Machine } from './machine.ts'
import { changeAll } from './settings/change-all.ts'
import { shownDiff, withoutChange } from './settings/plan.ts'
import { dropEntriesOf } from './watch/sessions.ts'

/** `link`: which hub, where the client is connected to several. Throws Stop where it cannot be done; nothing is changed then. */
export const disconnect = async (machine: Machine, client: ClientName, link: string | undefined, yes: boolean): Promise<void> => {
  const { title } = CLIENTS[client]
  const all = connectionsOf(machine.home).filter((other) => other.client === client)
  const own = connectionFor(client, all, link)
  if (!own) return void machine.out.write(`${title} is not connected${link ? ` to ${link}` : ''}: nothing to take out.\n`)
  const left = own.files.flatMap((file) => withoutChange(file, own, all) ?? [])
  if (left.length > 0) machine.out.write(`${left.map(shownDiff).join('\n\n')}\n\n`)
  if (!yes && !(await confirmed(machine, `Take this out of the settings of ${title}?`))) throw new Stop('Nothing was changed.')
  const later = left.flatMap((each) => each.later)
  changeAll(left, () => dropConnection(machine.home, own, later))
  machine.out.write(`${title} is no longer connected to ${own.link}.\n`)
  const isLeft = connectionTo(connectionsOf(machine.home), client, own.link) !== undefined // by an older version of the program
  const stuck = [...(isLeft ? [] : dropEntriesOf(machine.home, client, own.link)), ...dropFolder(machine.home)]
  for (const line of stuck) machine.err.write(`${line}\n`)
}

const connectionFor = (client: ClientName, all: Connection[], link: string | undefined): Connection | undefined => {
  const named = link === undefined ? undefined : connectionTo(all, client, link)
  if (named || all.length === 0) return named
  if (all.length === 1 && link === undefined) return all[0]
  const hubs = all.map((other) => `--hub ${quoted(other.link)}`).join(', ')
  throw new Stop(`${CLIENTS[client].title} is not connected to ${link ?? 'one hub alone'}. Say which: ${hubs}.`)
}
