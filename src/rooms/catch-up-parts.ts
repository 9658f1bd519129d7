// The sections of catch_up: each reads what it has to say, and cuts it to what it is given. Every row has the id or the name under which
// it is read in full.
import type { Context } from '../operations/context.ts'
import { fitting, jsonLength, rowWithin } from '../core/budget.ts'
import { nameKey } from '../core/text.ts'
import { documentBefore, documentVersions, readDocument } from '../stores/documents.ts'
import { eventsBefore, type Event } from '../stores/events.ts'
import { roster, type Member } from '../stores/members.ts'
import { sessionById } from '../stores/sessions.ts'
import { unansweredBy } from '../stores/unread.ts'
import { fittingOutline, outlineOf } from './outline.ts'
import { participantOf } from './roster.ts'

const ROWS = 30
const VERSIONS = 50
const ROW_CHARS = 240 // what a row may take however little there is

export interface Part {
  name: string
  share: number // of what is left
  of: number // rows there are
  within(limit: number): { value: unknown; rows: number }
}

/** Rows, the most important first; `arrange` puts those that fit in the order they are shown in. */
const listPart = (name: string, share: number, rows: object[], { of = rows.length, arrange = (kept: object[]) => kept } = {}): Part => ({
  name,
  share,
  of,
  within(limit) {
    const each = Math.max(ROW_CHARS, Math.floor(limit / 6))
    const kept = fitting(
      rows.map((row) => rowWithin(row, each)),
      limit,
    )
    return { value: arrange(kept), rows: kept.length }
  },
})

export const others = async ({ services, queries }: Context, { session: { id } }: Member): Promise<Part> => {
  const [session, teams] = await Promise.all([sessionById(queries, id), roster(queries, id)])
  const rows = teams.map((row) => {
    const { team_id, team_name, status, is_convener } = participantOf(services, row, session!)
    return { team_id, team_name, status: row.leftAt ? 'left' : status, ...(is_convener && { is_convener }) }
  })
  return listPart(
    'participants',
    0.2,
    rows.toSorted((a, b) => Number(a.status === 'left') - Number(b.status === 'left')),
  )
}

export const unanswered = async ({ queries }: Context, { session: { id }, teamId, teamName }: Member): Promise<Part> => {
  // A team that left and came back has a handle for each time; what was asked of the one that left waits for the one that came.
  const before = (await roster(queries, id)).filter((team) => team.leftAt !== null && nameKey(team.teamName) === nameKey(teamName))
  const { events, count } = await unansweredBy(queries, id, [teamId, ...before.map((team) => team.teamId)], ROWS)
  return listPart('unanswered', 0.35, events.map(lineOf), { of: count, arrange: oldestFirst })
}

export const lastMessages = async ({ queries }: Context, { session: { id } }: Member): Promise<Part> => {
  const { events } = await eventsBefore(queries, id, undefined, false, ROWS)
  return { ...listPart('last_messages', 1, events.toReversed().map(lineOf), { arrange: oldestFirst }), of: 0 } // there is always more
}

const oldestFirst = (rows: object[]) => rows.toReversed()

const lineOf = ({ id, sequence, at, type, content, author, posted_by_team_id: _, changes, ...rest }: Event) => ({
  id,
  sequence,
  at,
  ...(author === 'person' && { author }), // else a team of that name could be taken for it
  ...rest,
  ...(type === 'system' ? changes !== undefined && { changed: Object.keys(changes as object) } : (content as object)),
})

/** The doc's sections, and what became of them since the team's cursor. */
export const docPart = async ({ queries }: Context, { session: { id } }: Member, cursor: number): Promise<Part> => {
  const [now, before, versions] = await Promise.all([
    readDocument(queries, id),
    documentBefore(queries, id, cursor),
    documentVersions(queries, id, undefined, VERSIONS),
  ])
  const { outline, removed } = outlineOf(now.content, before.content)
  const by = [...new Set(versions.filter(({ version }) => version > before.version).map(({ by }) => by))]
  const within = (limit: number) => {
    const gone = removed.length > 0 && { removed: fitting(removed, limit / 4) }
    const value = { version: now.version, since_version: before.version, changed_by: fitting(by, limit / 4), ...gone, outline: [] }
    const rows = fittingOutline(outline, limit - jsonLength(value))
    return { value: { ...value, outline: rows }, rows: rows.length }
  }
  return { name: 'doc', share: 0.4, of: outline.length, within }
}
