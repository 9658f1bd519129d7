// What `connect` tells a person beside the change itself.
import { CLIENTS, type ClientName } from './clients.ts'
import { callOf } from './copy.ts'
import type { Machine } from './machine.ts'
import { programIn } from './runner/agents.ts'

/** A sentence where the client's program is not found here, by the name under which it is installed. */
export const whyMissing = (client: ClientName, { env }: Machine): string | undefined =>
  process.platform === 'win32' || programIn(client, env) // Windows has it under other names
    ? undefined
    : `${client} is not in PATH here: install ${CLIENTS[client].title}, or connect where it is.`

/** The lines that look at the connection, and end it: they work without the hub, and without the package, whose address is one version's. */
export const howToGoBack = (machine: Machine, client: ClientName, link: string): string[] => {
  const call = callOf(machine)
  return [`To see that all is well: ${call('doctor')}`, `To take it out again: ${call('disconnect', client, '--hub', link)}`]
}
