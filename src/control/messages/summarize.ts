// What happened in a session and how it is with it, in a few paragraphs: by a model where there is one, else an extract.
import type { Context } from '../../operations/context.ts'
import { pause } from '../../core/runtime/pause.ts'
import { UUID_SHAPE } from '../../core/ids.ts'
import { storableText } from '../../transcripts/storable.ts'
import { eventRow, latestAnswer, newestRows, type MessageRow } from '../../stores/control/messages.ts'
import { claimSummary, keptSummary, saveSummary } from '../../stores/control/summaries.ts'
import { knownEvents } from '../../stores/numbered-events.ts'
import type { Session } from '../../stores/sessions.ts'
import { askModel, LOG_CHARACTERS, MODEL_WITHIN_S } from './ask-model.ts'
import { extractOf } from './extract.ts'
import { shownText } from './readable.ts'
import { stateOf } from './state.ts'
import { asText } from '../../core/text/as-text.ts'

export interface Summary {
  summary: string
  summary_source: 'model' | 'extract'
  /** Ids of messages of this session, in the order in which the summary names them. */
  cited: string[]
}

const CHECK_EVERY_MS = 250
const LOST_AFTER_S = MODEL_WITHIN_S + 10

/** Never an error: without a model that answers, an extract. */
export const summaryOf = async (context: Context, session: Session): Promise<Summary> => {
  const { services, queries } = context
  const rows = await newestRows(queries, session.id, session.lastSequence, LOG_CHARACTERS)
  const state = await stateOf(queries, session)
  const written = services.config.ANTHROPIC_API_KEY === undefined ? undefined : await byModel(context, session, rows)
  // A model's text is kept for its last event, and the state changes without one.
  const whole = `State: ${state.name} (${state.because}).\n\n${written ?? extractOf(rows)}`
  const { text, cited } = await citing(context, session.id, whole, written !== undefined)
  const answer = await latestOf(context, session.id)
  return {
    summary: answer ? `${text}\n\nLatest answer [${answer.id}]:\n${answer.text}` : text,
    summary_source: written === undefined ? 'extract' : 'model',
    cited: [...new Set([...cited, ...(answer ? [answer.id] : [])])],
  }
}

// One call for one last event: whoever comes first makes it, and it goes on when that caller has gone; the others wait for it.
const byModel = async ({ services, call }: Context, { id, lastSequence }: Session, rows: MessageRow[]): Promise<string | undefined> => {
  const { database } = services
  if (await claimSummary(database, id, lastSequence)) {
    const text = (await askModel(services, promptFor(rows))) ?? null
    const kept = text === null ? null : storableText(text)
    await saveSummary(database, id, lastSequence, kept)
    return kept ?? undefined
  }
  for (
    const until = performance.now() + LOST_AFTER_S * 1_000;
    performance.now() < until && !call.signal().aborted;
    await pause(CHECK_EVERY_MS)
  ) {
    const kept = await keptSummary(database, id, lastSequence, LOST_AFTER_S)
    if (kept) return kept.text ?? undefined
  }
  return undefined
}

const promptFor = (rows: readonly MessageRow[]): string =>
  rows.map((row) => `[${row.id}] ${row.author_name ?? row.author}, ${row.type}: ${shownText(row)}`).join('\n')

const ID = new RegExp(UUID_SHAPE, 'gi')

// The ids that resolve with get_message. A model's others are taken out of its text; an extract's are what somebody wrote.
const citing = async (
  { queries }: Context,
  sessionId: string,
  text: string,
  invented: boolean,
): Promise<{ text: string; cited: string[] }> => {
  const named = [...new Set([...text.matchAll(ID)].map(([id]) => id.toLowerCase()))]
  const known = await knownEvents(queries, named, sessionId)
  const kept = !invented ? text : text.replace(UNKNOWN_REF, (whole, id: string) => (known.has(id.toLowerCase()) ? whole : ''))
  return { text: kept, cited: named.filter((id) => known.has(id)) }
}

const UNKNOWN_REF = new RegExp(` ?\\[?(${UUID_SHAPE})\\]?`, 'gi')

const latestOf = async ({ queries }: Context, sessionId: string): Promise<{ id: string; text: string } | undefined> => {
  const found = await latestAnswer(queries, sessionId)
  const row = found && (await eventRow(queries, found.id))
  return row && { id: row.id, text: asText(row.content.text) }
}
