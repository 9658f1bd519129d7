// Events and edits as the items of a feed: what each row shows, in plain data.
import type { EditItem } from '../../../components/session/edit-row.tsx'
import type { EventItem } from '../../../components/session/event-row.tsx'
import type { QuestionItem } from '../../../components/session/question-mark.tsx'
import type { PermissionItem, PermissionView, TaskItem } from '../../../components/agents/agent-view.ts'
import type { ProposalItem } from '../../../components/approvals/proposal-row.tsx'
import type { ProposalView } from '../../../components/approvals/proposal-view.ts'
import type { FeedItem, MessageItem } from '../../../components/session/feed-row.tsx'
import type { Team } from '../../../components/parts/team.tsx'
import { day } from '../../../components/parts/time.ts'
import { changesOf, kindOf, linkOf, reasonOf, subjectOf, type EventKinds, wordsOf } from '../../core/events/event-kinds.ts'
import type { QuestionState } from '../../rooms/feed/questions.ts'
import type { Edit } from '../../stores/documents.ts'
import type { Event } from '../../stores/events.ts'
import type { MessageHead } from '../../stores/questions.ts'
import { SAME_BREATH_MS, type FeedEnd, type FeedEntry } from './edits.ts'
import type { LineCounts } from './line-counts.ts'
import type { TeamLookup } from './team-lookup.ts'
import { promptedBy } from '../agents/task-items.ts'
import { asText } from '../../core/text/as-text.ts'

/** What the rows of one session's feed are made with, apart from events and edits. */
export interface ItemContext {
  sessionId: string
  teams: TeamLookup
  kinds: EventKinds
  /** The reader is a guest, to whom the document's versions are closed. */
  guest: boolean
  /** The messages that were replied to, by id. */
  answered: Map<string, Event>
  /** What came of the questions among the messages and among those that were replied to, by id. */
  questions: Map<string, QuestionState>
  linesOf: (edit: Edit) => LineCounts | undefined
  /** What became of the prompts, by the ids of their tasks, and what agents asked permission for, by the ids of the requests. */
  tasks: Map<string, TaskItem>
  requests: Map<string, PermissionView>
  /** What was proposed, by the ids of the proposals. */
  proposals: Map<string, ProposalView>
}

/** The items of rows that follow a feed's end, each with whether it continues the row before and begins a day. */
export const feedItems = (entries: FeedEntry[], end: FeedEnd, context: ItemContext): FeedItem[] => {
  const lastEdit = end.edits.at(-1)
  const first: Partial<FeedEntry> = lastEdit ? { edit: lastEdit } : { event: end.event }
  return entries.map(({ event, edit }, i) => {
    const above = i > 0 ? entries[i - 1]! : first
    const at = above.edit?.at ?? above.event?.at
    const today = day((event ?? edit).at)
    const newDay = at && day(at) !== today ? today : undefined
    const item = edit
      ? editItem(edit, context)
      : event.type === 'system'
        ? (permissionItem(event, context) ?? proposalItem(event, context) ?? eventItem(event, context))
        : messageItem(event, above.event, context)
    return { ...item, newDay }
  })
}

const messageItem = (event: Event, previous: Event | undefined, { teams, answered, questions, tasks }: ItemContext): MessageItem => {
  const original = event.reply_to ? answered.get(event.reply_to as string) : undefined
  const withdraws = original !== undefined && questions.get(original.id)?.withdrawn?.id === event.id
  const state = event.expects_reply ? questions.get(event.id) : undefined
  const to = namesOf(event.to as string[] | undefined, event.to_people as string[] | undefined, teams)
  return {
    kind: 'message',
    sequence: event.sequence,
    at: event.at,
    team: authorOf(event, teams),
    text: asText((event.content as { text?: unknown }).text),
    continues: to.length === 0 && isSameBreath(event, previous),
    prompt: event.type === 'user_input',
    promptedBy: promptedBy(event.prompted_by),
    task: event.type === 'user_input' ? tasks.get(asText(event.task_id)) : undefined,
    answers: original && { sequence: original.sequence, name: authorOf(original, teams).name, withdraws },
    to,
    question: state && questionItem(event.sequence, state, teams),
  }
}

const namesOf = (handles: string[] = [], people: string[] = [], teams: TeamLookup): string[] => [
  ...handles.map((id) => teams.team(id)?.name ?? 'somebody'),
  ...people,
]

/** The mark of a question's row, by what came of it. */
export const questionItem = (
  sequence: number,
  { answers, withdrawn, waitingFor, waitingForPeople }: QuestionState,
  teams: TeamLookup,
): QuestionItem => ({
  sequence,
  answers: answers.map((answer) => ({ sequence: answer.sequence, name: authorOf(answer, teams).name })),
  withdrawn: withdrawn?.sequence,
  waitingFor: namesOf(waitingFor, waitingForPeople, teams),
  asksPerson: waitingForPeople.length > 0,
})

const authorOf = (event: Event | MessageHead, teams: TeamLookup): Team =>
  teams.team(event.posted_by_team_id) ?? { name: (event.team as string | null) ?? 'Somebody', hue: undefined }

const isSameBreath = (event: Event, previous: Event | undefined): boolean =>
  previous !== undefined &&
  previous.type === event.type &&
  event.prompted_by === undefined &&
  previous.posted_by_team_id === event.posted_by_team_id &&
  previous.team === event.team &&
  day(previous.at) === day(event.at) &&
  Date.parse(event.at) - Date.parse(previous.at) < SAME_BREATH_MS

const permissionItem = (event: Event, { teams, requests }: ItemContext): PermissionItem | undefined => {
  const card = event.event === 'permission_asked' ? requests.get(asText(event.request_id)) : undefined
  return card && { kind: 'permission', sequence: event.sequence, at: event.at, team: teams.agent, card }
}

const proposalItem = (event: Event, { teams, proposals }: ItemContext): ProposalItem | undefined => {
  const card = event.event === 'proposal_made' ? proposals.get(asText(event.proposal_id)) : undefined
  return card && { kind: 'proposal', sequence: event.sequence, at: event.at, team: teams.team(event.team_id), card }
}

const eventItem = (event: Event, { sessionId, teams, kinds }: ItemContext): EventItem => {
  const kind = kindOf(kinds, event)
  const name = subjectOf(kinds, event)
  return {
    kind: 'event',
    sequence: event.sequence,
    at: event.at,
    icon: kind.icon,
    highlighted: kind.highlighted === true,
    words: wordsOf(kinds, event),
    href: linkOf(kinds, event, sessionId),
    team: teams.team(event.team_id) ?? (name === undefined ? undefined : teams.named(name)),
    changes: Object.fromEntries(changesOf(event).map(([field, { from, to }]) => [field, { from: asText(from), to: asText(to) }])),
    reason: reasonOf(kinds, event) || undefined,
    docVersion: typeof event.doc_version === 'number' ? event.doc_version : undefined,
  }
}

/** What was written to the document, as a row of the feed. */
export const editItem = (edit: Edit, { sessionId, teams, guest, linesOf }: ItemContext): EditItem => ({
  kind: 'edit',
  from: edit.from,
  to: edit.to,
  at: edit.at,
  team: edit.by === undefined ? undefined : (teams.team(edit.teamId) ?? { name: edit.by, hue: undefined }),
  changed: linesOf(edit),
  history: guest ? undefined : `/sessions/${sessionId}/history`,
})
