// The events that the board writes into its session's log: system events for what others must act on, runtime events for the rest.
import { topicOf } from '../log/topics.ts'
import { authorOf } from '../operations/callers.ts'
import type { Context } from '../operations/context.ts'
import { idAndTitle, type Named, type ReadyItem } from '../rooms/work/open-work.ts'

/** Writes one event for all items that a call planned, addressed to the teams that own some of them. */
export const appendPlanned = async (
  context: Context,
  sessionId: string,
  items: readonly Named[],
  owners: readonly string[],
): Promise<void> => {
  const content = { event: 'work_planned', by: authorOf(context.caller).name, items: items.map(idAndTitle) }
  await context.append(sessionId, content, { to: [...new Set(owners)] })
}

/** Writes that an item is done or dropped. `ready`: the items that became ready by that. `holder`: the team that held it, which is addressed
 *  where somebody else ended its work. */
export const appendOver = async (
  context: Context,
  sessionId: string,
  event: 'work_done' | 'work_dropped',
  item: Named & { result?: string | null; note?: string | null },
  { ready, holder }: { ready: ReadyItem[]; holder: string | null },
): Promise<void> => {
  const { caller } = context
  const others = holder !== null && !(caller.kind === 'team' && caller.member.teamId === holder)
  const said = event === 'work_done' ? { result: item.result ?? null } : { note: item.note ?? null }
  const content = { event, ...idAndTitle(item), by: authorOf(context.caller).name, ...said, ready }
  await context.append(sessionId, content, { to: others ? [holder] : [] })
}

/** The kind of topic that moves on changes of a board that are no system events: open pages follow it, and nobody is woken. */
export const BOARD_KIND = 'board'

const DID = { work_claimed: 'claimed', work_edited: 'changed', work_noted: 'noted on' } as const

/** Writes a claim, an edit or a note as a runtime event, which wakes nobody. */
export const noteWork = async (
  context: Context,
  sessionId: string,
  event: keyof typeof DID,
  item: Named,
  more: { fields?: readonly string[]; note?: string | null; result?: string | null } = {},
): Promise<void> => {
  const by = authorOf(context.caller).name
  const said = more.note ?? more.result ?? more.fields?.join(', ')
  const text = `${by} ${DID[event]} “${item.title}”${said ? `: ${said}` : ''}`
  await context.note(sessionId, { event, ...idAndTitle(item), by, ...more, text })
  context.moved(topicOf(BOARD_KIND, sessionId))
}
