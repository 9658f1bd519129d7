// `doctor`: looks at each hub that this machine is connected to, and at each of its clients.
import { connectionsOf, type Connection } from '../connections.ts'
import { callAgain } from '../copy.ts'
import { sameHub } from '../hub.ts'
import type { Machine } from '../machine.ts'
import { knownToken } from '../tokens.ts'
import { checkClient } from './client.ts'
import { bad, note, show } from './findings.ts'
import { checkHub } from './hub.ts'

/** `link`: one hub, also one that nothing is connected to. Returns the exit code: 1 where something is wrong. */
export const doctor = async (machine: Machine, link: string | undefined): Promise<number> => {
  const { home, out } = machine
  const connections = connectionsOf(home).filter((connection) => link === undefined || sameHub(connection.link, link))
  const known = [...new Set(connections.map((connection) => connection.link))]
  const links = known.length === 0 && link !== undefined ? [link] : known
  if (links.length === 0)
    show(out, [bad('Nothing on this machine is connected to a hub. The page /connect of yours has the line that connects a client.')])
  let allGood = links.length > 0
  for (const each of links) {
    out.write(`${each}\n`)
    const own = connections.filter((connection) => connection.link === each)
    const found = [...(await checkHub(machine, { link: each, token: knownToken(machine, each) })), ...clients(machine, each, own)]
    allGood = show(out, found) && allGood
  }
  return allGood ? 0 : 1
}

const clients = (machine: Machine, link: string, connections: Connection[]) =>
  connections.length > 0
    ? connections.flatMap((connection) => checkClient(machine, connection))
    : [note(`No client on this machine is connected to it. To connect one: ${callAgain(machine, 'connect', 'CLIENT', '--hub', link)}`)]
