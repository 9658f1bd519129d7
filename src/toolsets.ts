// Every toolset there is. A new wing is a folder with a toolset, and one line here.
import type { Toolset } from './operations/toolset.ts'
import { history } from './history/toolset.ts'
import { rooms } from './rooms/toolset.ts'

/** The first one is served under /mcp itself; a name that two of them share is plain in the first of those that are served together. */
export const toolsets: readonly Toolset[] = [rooms, history]

/** The names of all tools, by which a transcript shows that its agent called this server. */
export const ownTools: ReadonlySet<string> = new Set(
  toolsets.flatMap(({ operations }) => operations.filter(({ restOnly }) => !restOnly).map(({ name }) => name)),
)
