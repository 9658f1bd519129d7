// A wing of the house as the doors see it: its operations and whatever else they must know. The kernel knows no wing, and
// the doors serve all alike.
import type { EventKind } from '../core/events/event-kinds.ts'
import type { Job } from '../core/runtime/job.ts'
import type { Services } from '../process/services.ts'
import type { ServedOp } from './context.ts'
import type { Offers } from './offers.ts'

/** A page for agents. `about`: in a few words, for those who decide whether to read it. http://127.0.0.1:7423 in its text stands for the
 *  server's address, and `<!-- curl -->` or `<!-- events -->` with its end for what `bun run docs` puts there. */
export interface Guide {
  name: string
  about: string
  text: string
}

export interface Toolset {
  /** Its path under /mcp, and the first half of each operation's id. */
  name: string
  /** What an MCP client's model is told of it once. */
  instructions: string
  /** In the order in which a newcomer would call them: the lists of tools and the guide's curl lines have them so. */
  operations: readonly ServedOp[]
  /** Pages beside AGENTS.md, at /AGENTS/<name>.md: at most 6 KB each, for what an agent needs only now and then. */
  guides?: readonly Guide[]
  /** The system events that its operations write. */
  eventKinds?: readonly EventKind[]
  /** What it offers to people in front of MCP clients. */
  offers?: Offers
  /** What it does in the background. */
  jobs?: (services: Services) => readonly Job[]
  /** A reader's cookie is enough for those of its POST routes that change nothing (ACCESS_TOKEN). */
  readOnlyPosts?: boolean
}

/** An addition by another wing to a toolset, served together with that toolset's tools. Its operations have that toolset's name. */
export interface Extension extends Pick<Toolset, 'operations' | 'guides' | 'eventKinds' | 'jobs'> {
  /** The name of the toolset's operation that these are listed before: what a newcomer would call after them. */
  before: string
}

/** A toolset with what another wing adds to it. */
export const extended = (toolset: Toolset, more: Extension): Toolset => {
  const at = toolset.operations.findIndex(({ name }) => name === more.before)
  if (at < 0) throw new Error(`${toolset.name} has no operation ${more.before}`)
  return {
    ...toolset,
    operations: toolset.operations.toSpliced(at, 0, ...more.operations),
    guides: [...(toolset.guides ?? []), ...(more.guides ?? [])],
    eventKinds: [...(toolset.eventKinds ?? []), ...(more.eventKinds ?? [])],
    jobs: (services) => [...(toolset.jobs?.(services) ?? []), ...(more.jobs?.(services) ?? [])],
  }
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
