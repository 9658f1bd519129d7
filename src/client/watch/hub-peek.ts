// What a hub says of the unread messages of a team. Counts, handles and nothing else of its answers are used: what a peer wrote must not
// reach an agent by this way.
import { isUuid, parseToken } from '../../core/ids.ts'
import { askHub, Unreachable, type HubAnswer } from '../hub.ts'
import type { Entry } from './sessions.ts'

export interface Peek {
  unread: number
  addressed: number
  last: number
  wake: boolean
  closed: boolean
}

export type PeekResult = Peek | 'refused' | 'beyond the end' | { retryAfterS: number | undefined }

export interface PeekAsked {
  base: string
  token: string | undefined
  after: number | undefined
  addressedOnly: boolean
  holdS: number
  signal: AbortSignal
}

const ANSWER_WITHIN_MS = 15_000 // beyond the time that a peek is held

/** Throws Unreachable. 'refused': the hub does not take the team's credential. It has ended, or this is another Parley at the hub's address,
 *  which has never heard of the session: all of them answer alike. */
export const peekAt = async (entry: Entry, { base, token, after, addressedOnly, holdS, signal }: PeekAsked): Promise<PeekResult> => {
  const query = new URLSearchParams({ timeout: String(holdS) })
  if (after !== undefined) query.set('after', String(after))
  if (addressedOnly) query.set('only', 'addressed')
  const withinMs = holdS * 1000 + ANSWER_WITHIN_MS
  const asking = { token, team: entry.team_id, withinMs, signal }
  const answer = await askHub(base, `/api/sessions/${entry.session_id}/unread?${query}`, asking)
  if (answer.status === 200) return peekOf(answer.body)
  if (answer.status === 400 && after !== undefined) return 'beyond the end'
  if (answer.status === 401 && isRefusal(answer) && (await takesToken(base, token, signal))) return 'refused'
  return { retryAfterS: Number(answer.headers.get('retry-after')) || undefined }
}

// Without it, a 401 may be about the hub's access token.
const takesToken = async (base: string, token: string | undefined, signal: AbortSignal): Promise<boolean> =>
  (await askHub(base, '/api/config', { token, withinMs: ANSWER_WITHIN_MS, signal })).status === 200

const isRefusal = ({ body }: HubAnswer): boolean => body?.error?.code === 'unauthorized'

const peekOf = (body: any): Peek => {
  const { unread, addressed, last_cursor, wake, session_closed } = body ?? {}
  if (![unread, addressed, last_cursor].every((count) => Number.isSafeInteger(count) && count >= 0) || typeof wake !== 'boolean')
    throw new Unreachable('something answers there that is not Parley')
  return { unread, addressed, last: last_cursor, wake, closed: session_closed === true }
}

const MOST_ROWS = 100

/** How many of the newest `unread` events each team wrote, by handle; under "" those of people and of the session itself. */
export const writersOf = async (entry: Entry, unread: number, asked: PeekAsked): Promise<Map<string, number>> => {
  const { handle } = parseToken(entry.team_id)!
  const path = `/api/sessions/${entry.session_id}/messages?limit=${Math.min(MOST_ROWS, unread + 10)}&max_chars=4000`
  const { body } = await askHub(asked.base, path, {
    token: asked.token,
    team: entry.team_id,
    withinMs: ANSWER_WITHIN_MS,
    signal: asked.signal,
  })
  const rows: unknown[] = Array.isArray(body?.messages) ? body.messages : []
  const writers = rows.map((row) => writerOf(row)).filter((writer) => writer !== handle)
  const counts = new Map<string, number>()
  for (const writer of writers.slice(-unread)) counts.set(writer, (counts.get(writer) ?? 0) + 1)
  return counts
}

const writerOf = (row: unknown): string => {
  const { posted_by_team_id, team_id } = (row ?? {}) as Record<string, unknown>
  const writer = posted_by_team_id ?? team_id
  return typeof writer === 'string' && isUuid(writer) ? writer : ''
}
