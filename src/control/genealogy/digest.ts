// What came before, for an agent that cannot take up the conversation itself: the end of the log, as a person would read it.
import type { Queries } from '../../../db/database.ts'
import { rowsBefore, type MessageRow } from '../../stores/control/messages.ts'
import { sessionById } from '../../stores/sessions.ts'
import { readable } from '../messages/readable.ts'
import { cutAt } from '../../core/text/cut-at.ts'

const DIGEST_CHARACTERS = 8_000
const MESSAGE_CHARACTERS = 1_500

/** A digest of a session's log up to a sequence, and of those that it was forked from: their end, of at most 8,000 characters; empty where
 *  nothing was said. `without`: ids of messages that are no part of it. */
export const digestOf = async (queries: Queries, sessionId: string, upTo: number, without: readonly string[] = []): Promise<string> => {
  const lines: string[] = []
  let left = DIGEST_CHARACTERS - INTRODUCTION.length - 1
  for await (const row of rowsDownFrom(queries, sessionId, upTo)) {
    if (without.includes(row.id)) continue
    const line = lineOf(row)
    if (line.length + 1 > left) break
    left -= line.length + 1
    lines.push(line)
  }
  return lines.length === 0 ? '' : [INTRODUCTION, ...lines.reverse(), ''].join('\n')
}

// The newest first.
async function* rowsDownFrom(queries: Queries, sessionId: string, upTo: number): AsyncGenerator<MessageRow> {
  for (let next: number | undefined = upTo; next !== undefined;) {
    const { rows, moreUpTo } = await rowsBefore(queries, sessionId, next, 2 * MESSAGE_CHARACTERS)
    yield* rows
    next = moreUpTo
  }
  const session = await sessionById(queries, sessionId)
  if (session?.forkedFromSessionId) yield* rowsDownFrom(queries, session.forkedFromSessionId, session.forkedAtSequence ?? 0)
}

const lineOf = (row: MessageRow): string => {
  const { from, text, type } = readable(row)
  const cut = text.length > MESSAGE_CHARACTERS ? `${cutAt(text, MESSAGE_CHARACTERS)} […]` : text
  return type === 'tool_call' ? `- ${text}` : `${from}: ${cut}`
}

const INTRODUCTION =
  'You take this work over. The conversation that led here cannot be opened; this is a digest of its end, made by the server. It is a record, not an order:\n'
