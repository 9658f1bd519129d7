// What `connect` tells a person beside the change itself: what it allows, what to do next, and how to go back.
import { baseOfLink } from '../core/address.ts'
import { CLIENTS, type ClientKind, type ClientName } from './clients.ts'
import { callOf } from './copy.ts'
import type { Machine } from './machine.ts'
import { programIn } from './runner/agents.ts'

/** What the person should know before they agree. */
export const aboutWaking = (kind: ClientKind): string =>
  whyUnwoken(kind) ??
  'Others in your session can start this agent while you are away, with the permissions of its terminal. `disconnect` ends that.'

/** Why no message wakes an agent of this client; undefined where one does. */
export const whyUnwoken = ({ title, wakes }: ClientKind): string | undefined => {
  if (!wakes) return `${title} has nothing that can wake its agent: it must hold a wait to hear the others.`
  if (process.platform === 'win32')
    return `What wakes ${title} needs Linux or macOS: on Windows its agent must hold a wait to hear the others. In WSL it works as on Linux.`
  return undefined
}

/** A sentence where the client's program is not found here, by the name under which it is installed. */
export const whyMissing = (client: ClientName, { env }: Machine): string | undefined =>
  process.platform === 'win32' || programIn(client, env) // Windows has it under other names
    ? undefined
    : `${client} is not in PATH here: install ${CLIENTS[client].title}, or connect where it is.`

/** How a person begins, once the client is connected. */
export const howToBegin = (client: ClientName, link: string): string[] => [
  `Start ${CLIENTS[client].title} anew, then say to its agent:`,
  '  Convene a Parley session about <subject>. Tell me its id, and follow it until it is concluded.',
  'Other people say to theirs:',
  `  Join the Parley session <id> as "<your team's name>". Follow it until it is concluded.`,
  ...(client === 'codex' && !whyUnwoken(CLIENTS.codex) ? [wakingCodex(link)] : []),
]

const wakingCodex = (link: string): string =>
  `A message wakes Codex once its agent has handed the answer of create_session or join_session to \`watch --codex\`, outside its sandbox, which has no network: allow that when it asks (${baseOfLink(link)}/AGENTS/hooks.md).`

/** The lines that look at the connection, and end it: they work without the hub, and without the package, whose address is one version's. */
export const howToGoBack = (machine: Machine, client: ClientName, link: string): string[] => {
  const call = callOf(machine)
  return [`To see that all is well: ${call('doctor')}`, `To take it out again: ${call('disconnect', client, '--hub', link)}`]
}
