// A wing of the house as the doors see it: its operations and whatever else they must know, so that nothing outside the wing names it
// but src/toolsets.ts.
import type { EventKind } from '../core/event-kinds.ts'
import type { Job } from '../core/job.ts'
import type { Services } from '../process/services.ts'
import type { ServedOp } from './context.ts'
import type { Offers } from './offers.ts'

export interface Toolset {
  /** Its path under /mcp, and the first half of each operation's id. */
  name: string
  /** What an MCP client's model is told of it once. */
  instructions: string
  /** In the order in which a newcomer would call them: the lists of tools, AGENTS.md and its curl lines have them so. */
  operations: readonly ServedOp[]
  /** The system events that its operations write. */
  eventKinds?: readonly EventKind[]
  /** What it offers to people in front of MCP clients. */
  offers?: Offers
  /** What it does in the background. */
  jobs?: (services: Services) => readonly Job[]
  /** Its POST routes change nothing: a reader's cookie is enough for them (ACCESS_TOKEN). */
  readOnlyPosts?: boolean
}

/** The operations of these toolsets by the names they have where they are served together: a name that two of them share is plain in the
 *  first and gets its toolset's name before it in the others. */
export const namesOf = (toolsets: readonly Toolset[]): Map<string, ServedOp> => {
  const named = new Map<string, ServedOp>()
  for (const operation of toolsets.flatMap(({ operations }) => operations))
    named.set(named.has(operation.name) ? `${operation.toolset}_${operation.name}` : operation.name, operation)
  return named
}

/** The background jobs of these toolsets, for createServices. */
export const jobsOf =
  (toolsets: readonly Toolset[]) =>
  (services: Services): Job[] =>
    toolsets.flatMap(({ jobs }) => jobs?.(services) ?? [])
