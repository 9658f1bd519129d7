// The sections of catch_up. Each reads its rows and cuts them to the characters it is given. Every row has the id or the name by which
// the whole of it can be read.
import type { Context } from '../operations/context.ts'
import { fitting, jsonLength, rowWithin } from '../core/budget.ts'
import { documentBefore, documentVersions, readDocument } from '../stores/documents.ts'
import { listTasksOf } from '../stores/control/session-tasks.ts'
import { eventsBefore, newestOf, type Event } from '../stores/events.ts'
import { roster, type Member } from '../stores/members.ts'
import { newsOfProposals } from '../stores/records/proposal-news.ts'
import type { Proposal } from '../stores/records/proposals.ts'
import { sessionById } from '../stores/sessions.ts'
import { fittingOutline, outlineOf } from './document/outline.ts'
import { isAskedBy, openQuestions, teamKeys, type OpenQuestion } from './feed/questions.ts'
import { participantOf } from './roster.ts'

const ROWS = 30
const VERSIONS = 50
const MOST_TASKS = 50 // as many as a session may have open
const ROW_CHARS = 240 // a row is cut to a sixth of its section's characters, and never to fewer than these

export interface CatchUpSection {
  name: string
  share: number // of the characters that the sections before it have left
  total: number // rows, with those that do not fit
  /** The section in at most `limit` characters, and how many rows that are. */
  within(limit: number): { value: unknown; rows: number }
}

/** A section of rows, which come with the most important first; `arrange` puts the rows that fit into the order of the answer. */
const listSection = (
  name: string,
  share: number,
  rows: object[],
  { total = rows.length, arrange = (kept: object[]) => kept } = {},
): CatchUpSection => ({
  name,
  share,
  total,
  within(limit) {
    const each = Math.max(ROW_CHARS, Math.floor(limit / 6))
    const kept = fitting(
      rows.map((row) => rowWithin(row, each)),
      limit,
    )
    return { value: arrange(kept), rows: kept.length }
  },
})

export const participantsSection = async ({ services, queries }: Context, { session: { id } }: Member): Promise<CatchUpSection> => {
  const [session, teams] = await Promise.all([sessionById(queries, id), roster(queries, id)])
  const rows = teams.map((row) => {
    const { team_id, team_name, status, is_convener } = participantOf(services, row, session!)
    return { team_id, team_name, status: row.leftAt ? 'left' : status, ...(is_convener && { is_convener }) }
  })
  return listSection(
    'participants',
    0.2,
    rows.toSorted((a, b) => Number(a.status === 'left') - Number(b.status === 'left')),
  )
}

/** The questions that wait for the team's answer, and those that the team asked and that wait for other teams (`unanswered_by`) or
 *  for people (`unanswered_by_people`). */
export const questionSections = async ({ queries }: Context, { session: { id }, teamId }: Member): Promise<CatchUpSection[]> => {
  const key = teamKeys(await roster(queries, id))
  const open = await openQuestions(queries, id, key)
  const toTeam = open.filter(({ waitingFor }) => waitingFor.some((handle) => key(handle) === key(teamId)))
  const byTeam = open.filter((question) => isAskedBy(question, teamId, key))
  const [unanswered, asked] = await Promise.all([textsOf(queries, id, toTeam), textsOf(queries, id, byTeam)])
  const byId = new Map(byTeam.map((question) => [question.id, question]))
  const askedRows = asked.map((event) => ({ ...rowOf(event), ...owed(byId.get(event.id)!) }))
  return [
    listSection('unanswered', 0.35, unanswered.map(rowOf), { total: toTeam.length, arrange: oldestFirst }),
    listSection('asked', 0.25, askedRows, { total: byTeam.length, arrange: oldestFirst }),
  ]
}

const owed = ({ waitingFor, waitingForPeople }: OpenQuestion) => ({
  unanswered_by: waitingFor,
  ...(waitingForPeople.length > 0 && { unanswered_by_people: waitingForPeople }),
})

const textsOf = async (queries: Context['queries'], sessionId: string, questions: OpenQuestion[]): Promise<Event[]> => {
  const ids = questions.slice(0, ROWS).map(({ id }) => id)
  return ids.length === 0 ? [] : newestOf(queries, sessionId, ids, ROWS)
}

/** What the team proposed: what waits for a person, and what became of the rest since its cursor. */
export const proposalsSection = async (
  { queries }: Context,
  { session: { id }, teamId }: Member,
  cursor: number,
): Promise<CatchUpSection> => {
  const rows = await newsOfProposals(queries, id, teamId, cursor)
  return listSection('proposals', 0.3, rows.map(proposalRowOf))
}

const proposalRowOf = ({ id, type, data, status, expiresAt, resolvedAt, resolvedBy, feedback, edited, recordId }: Proposal) => ({
  id,
  type,
  title: data.title,
  status,
  ...(status === 'pending' ? { expires_at: expiresAt } : { resolved_at: resolvedAt }),
  ...(resolvedBy && { resolved_by: resolvedBy.name }),
  ...(feedback !== null && { feedback }),
  ...(edited && edited.length > 0 && { edited }),
  ...(recordId !== null && { record_id: recordId }),
})

/** What was given to the session's agent, or to a team where it has none, and has not ended, the oldest first; no section where there is
 *  nothing. */
export const tasksSection = async ({ queries }: Context, { session: { id } }: Member): Promise<CatchUpSection[]> => {
  const open = await listTasksOf(queries, id, { open: true, limit: MOST_TASKS })
  const rows = open.toReversed().map(({ id, status, prompt, promptedBy }) => ({ task_id: id, status, prompt, prompted_by: promptedBy }))
  return rows.length === 0 ? [] : [listSection('tasks', 0.2, rows)]
}

export const lastMessagesSection = async ({ queries }: Context, { session: { id } }: Member): Promise<CatchUpSection> => {
  const { events } = await eventsBefore(queries, id, undefined, false, ROWS)
  // The feed always has older messages: they are not counted as omitted.
  return { ...listSection('last_messages', 1, events.toReversed().map(rowOf), { arrange: oldestFirst }), total: 0 }
}

const oldestFirst = (rows: object[]) => rows.toReversed()

const rowOf = ({ id, sequence, at, type, content, author, posted_by_team_id: _, changes, ...rest }: Event) => ({
  id,
  sequence,
  at,
  ...(author === 'person' && { author }), // a team may have the person's name
  ...rest,
  ...(type === 'system' ? changes !== undefined && { changed: Object.keys(changes as object) } : (content as object)),
})

/** The outline of the document, with the sections that changed since the team's cursor. */
export const docSection = async ({ queries }: Context, { session: { id } }: Member, cursor: number): Promise<CatchUpSection> => {
  const [now, before, versions] = await Promise.all([
    readDocument(queries, id),
    documentBefore(queries, id, cursor),
    documentVersions(queries, id, undefined, VERSIONS),
  ])
  const { outline, removed } = outlineOf(now.content, before.content)
  const by = [...new Set(versions.filter(({ version }) => version > before.version).map(({ by }) => by))]
  const within = (limit: number) => {
    const removals = removed.length > 0 && { removed: fitting(removed, limit / 4) }
    const value = { version: now.version, since_version: before.version, changed_by: fitting(by, limit / 4), ...removals, outline: [] }
    const rows = fittingOutline(outline, limit - jsonLength(value))
    return { value: { ...value, outline: rows }, rows: rows.length }
  }
  return { name: 'doc', share: 0.4, total: outline.length, within }
}
