// What `connect` tells a person beside the change itself.
import type { ClientName } from './clients.ts'
import { callOf } from './copy.ts'
import type { Machine } from './machine.ts'

/** The lines that look at the connection, and end it: they work without the hub, and without the package, whose address is one version's. */
export const howToGoBack = (machine: Machine, client: ClientName, link: string): string[] => {
  const call = callOf(machine)
  return [`To see that all is well: ${call('doctor')}`, `To take it out again: ${call('disconnect', client, '--hub', link)}`]
}
