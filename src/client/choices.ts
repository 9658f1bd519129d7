// What a person chose for a connection. Connecting again keeps what was chosen before, unless it is told otherwise.
import type { ClientKind, WakeFor } from './clients.ts'
import type { Connection } from './connections.ts'
import { baseOfLink } from '../core/address.ts'
import { quoted } from '../core/text/shell-word.ts'
import { isUnguarded } from './hub.ts'
import { Stop } from './machine.ts'

/** The options of the command line; undefined where one was not given. */
export interface Choices {
  wake: WakeFor | undefined
  guard: boolean | undefined
  name: string | undefined
  insecure: boolean | undefined
}

/** Throws Stop for a choice that the client cannot follow. */
export const refuseImpossible = ({ wake, guard }: Choices, { title, wakes, guards }: ClientKind): void => {
  if (guard && !guards) throw new Stop(`${title} has nothing that asks before an edit: --guard is for Claude Code.`)
  if (wake === 'addressed' && !wakes) throw new Stop(`${title} has nothing that can wake its agent: --wake is for Claude Code and Codex.`)
}

/** A sentence that names the choices of `earlier` that are kept, and what undoes each; empty where there are none. */
export const keptFrom = (earlier: Connection | undefined, choices: Choices, link: string): string => {
  if (!earlier) return ''
  const plain = `${baseOfLink(link)}/mcp`
  const kept = [
    choices.wake === undefined && earlier.wakeFor === 'addressed' && '--wake addressed (--wake all ends it)',
    choices.guard === undefined && earlier.guard && '--guard (--no-guard ends it)',
    choices.name === undefined && earlier.server !== 'parley' && `--name ${earlier.server} (--name parley ends it)`,
    link === earlier.link && link !== plain && `--hub ${quoted(link)} (--hub ${plain} ends it)`,
    choices.insecure === undefined && isUnguarded(link) && '--insecure (disconnect ends it)',
  ].filter((each) => typeof each === 'string')
  return kept.length === 0 ? '' : `Kept from before: ${kept.join(', ')}.\n`
}
