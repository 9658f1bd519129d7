// Every toolset there is (README, "Working on it", says what a new one needs).
import { extended, namesOf, type Toolset } from './operations/toolset.ts'
import { board } from './board/toolset.ts'
import { control } from './control/toolset.ts'
import { history } from './history/toolset.ts'
import { records } from './records/toolset.ts'
import { rooms } from './rooms/toolset.ts'

/** The first one is served under /mcp itself; a name that two of them share is plain in the first of those that are served together. */
export const toolsets: readonly Toolset[] = [extended(rooms, board), control, history, records]

/** The names of all tools, by which a transcript shows that its agent called this server. */
export const ownTools: ReadonlySet<string> = new Set([...namesOf(toolsets)].filter(([, { restOnly }]) => !restOnly).map(([name]) => name))
