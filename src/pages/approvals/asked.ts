// What people are asked by name, across sessions: each person's own part of the inbox.
import type { AskedView } from '../../../components/approvals/inbox-view.ts'
import type { Queries } from '../../../db/database.ts'
import { nameKey } from '../../core/text/text.ts'
import { toPlainText } from '../../markdown/plain-text.ts'
import { questionState, teamKeys } from '../../rooms/feed/questions.ts'
import {
  MOST_QUESTIONS,
  questionsToPeople,
  repliesIn,
  sessionsGoingOn,
  type QuestionPlace,
  type QuestionToPeople,
  type Reply,
} from '../../stores/questions.ts'

export interface Asked {
  /** The questions that wait for people, by the `nameKey` of each, the oldest first. */
  byPerson: ReadonlyMap<string, AskedView[]>
  /** Their messages. */
  ids: ReadonlySet<string>
  /** The open questions, the newest first. */
  open: readonly QuestionToPeople[]
}

export const NONE_ASKED: Asked = { byPerson: new Map(), ids: new Set(), open: [] }

/** `before`: the questions that were open when they were read last: of all others only the newest are looked at. Without it, all are. */
export const readAsked = async (queries: Queries, before?: readonly QuestionToPeople[]): Promise<Asked> => {
  const found = await (before ? openAmongNewest(queries, before) : openAmongAll(queries))
  const waiting = found
    .toReversed()
    .flatMap(({ question, names }) => names.map((name) => ({ person: nameKey(name), id: question.id, view: askedViewOf(question) })))
  const byPerson = [...Map.groupBy(waiting, ({ person }) => person)].map(([person, own]) => [person, own.map(({ view }) => view)] as const)
  return { byPerson: new Map(byPerson), ids: new Set(waiting.map(({ id }) => id)), open: found.map(({ question }) => question) }
}

interface OpenQuestion {
  question: QuestionToPeople
  /** Of the people who owe an answer. */
  names: string[]
}

const openAmongNewest = async (queries: Queries, before: readonly QuestionToPeople[]): Promise<OpenQuestion[]> => {
  const { questions, next: last } = await questionsToPeople(queries)
  const older = before.filter((question) => last !== undefined && isOlder(question, last))
  const goingOn = await sessionsGoingOn(
    queries,
    older.map(({ session_id }) => session_id),
  )
  return stillOpen(queries, [...questions, ...older.filter(({ session_id }) => goingOn.has(session_id))])
}

const isOlder = (a: QuestionPlace, b: QuestionPlace): boolean => a.at < b.at || (a.at === b.at && a.id < b.id)

// The newest first. Most questions have been answered, so that an open one may have many newer ones before it.
const openAmongAll = async (queries: Queries): Promise<OpenQuestion[]> => {
  const open: OpenQuestion[] = []
  for (let last: QuestionPlace | undefined; open.length < MOST_QUESTIONS;) {
    const { questions, next } = await questionsToPeople(queries, last)
    open.push(...(await stillOpen(queries, questions)))
    if (!next) break
    last = next
  }
  return open
}

const stillOpen = async (queries: Queries, questions: QuestionToPeople[]): Promise<OpenQuestion[]> => {
  const sessions = [...new Set(questions.map(({ session_id }) => session_id))]
  const ids = questions.map(({ id }) => id)
  const replies = Map.groupBy(await repliesIn(queries, sessions, ids), ({ reply_to }) => reply_to)
  return questions
    .map((question) => ({ question, names: waitingPeople(question, replies.get(question.id) ?? []) }))
    .filter(({ names }) => names.length > 0)
}

const waitingPeople = (question: QuestionToPeople, replies: Reply[]): string[] => {
  const teams = [question, ...replies].map(({ posted_by_team_id, team }) => ({ teamId: posted_by_team_id ?? '', teamName: team ?? '' }))
  return questionState(question, replies, teamKeys(teams)).waitingForPeople
}

const askedViewOf = ({ session_id, title, sequence, at, team, hue, text }: QuestionToPeople): AskedView => ({
  session: { id: session_id, title },
  sequence,
  at,
  by: { name: team ?? 'Somebody', hue: hue ?? undefined },
  text: toPlainText(text).trim(),
})
