// The feed as the session page shows it: events and the edits of the document among them, as rows, rendered a slice at a time.
import { renderToStaticMarkup } from 'react-dom/server'
import type { Queries } from '../../../db/database.ts'
import { EditRow, type EditItem } from '../../../components/session/edit-row.tsx'
import { QuestionMark, type QuestionItem } from '../../../components/session/question-mark.tsx'
import { FeedRow, type FeedItem } from '../../../components/session/feed-row.tsx'
import type { Services } from '../../process/services.ts'
import type { EventKinds } from '../../core/events/event-kinds.ts'
import { isUuid } from '../../core/ids.ts'
import { prepareMarkdown } from '../../markdown/render.ts'
import { pause } from '../../core/runtime/pause.ts'
import { agentPartsOf, type Replaced } from '../agents/feed-parts.tsx'
import { proposalPartsOf } from '../approvals/feed-parts.ts'
import { questionStates, type TeamKey } from '../../rooms/feed/questions.ts'
import type { Edit } from '../../stores/documents.ts'
import { eventsById, type Event } from '../../stores/events.ts'
import { endedPrompts, type Question } from '../../stores/questions.ts'
import { arrange, type FeedEnd } from './edits.ts'
import { editItem, feedItems, questionItem } from './feed-items.ts'
import { countEdits, knownLines, lineBudget, type LineBudget } from './line-counts.ts'
import type { Stretch } from './stretches.ts'
import type { TeamLookup } from './team-lookup.ts'

const SLICE = 25 // rows rendered before a look at the clock: 0.5 to 2 ms
const SLICE_MS = 5 // after as long, other requests get their turn

/** One session's feed, with all that its rows are rendered from. */
export interface Feed {
  services: Pick<Services, 'clock' | 'config'>
  queries: Queries
  sessionId: string
  teams: TeamLookup
  kinds: EventKinds
}

export interface RowOptions {
  /** Nothing stands above these rows yet, so that the first one shows its author's name. */
  first?: boolean
  /** The reader is a guest, to whom the document's versions are closed. */
  guest?: boolean
  /** One budget for several stretches of a page. */
  budget?: LineBudget
}

/** A stretch of the feed as markup. */
export const rowsOf = async (
  feed: Feed,
  { previous, events, edits = [] }: Pick<Stretch, 'previous' | 'events'> & { edits?: Edit[] },
  options: RowOptions = {},
): Promise<string> => (await rowsAfter(feed, { event: previous, edits: [] }, events, edits, options)).rows

/** How a page's feed changes at its end. */
export interface NewRows {
  /** Rows of edits that are on the page and have changed, as markup, by the first version in them. */
  continued: { from: number; html: string }[]
  /** Rows of edits that are on the page no more, by the first version in them. */
  gone: number[]
  /** Marks of questions that these rows reply to, as markup, by the question's sequence: it may be on the page. */
  marks: { of: number; html: string }[]
  /** Lines of tasks, and cards of requests and proposals, that these rows answer, as markup: each may be on the page. */
  replaced: Replaced[]
  /** New rows, as markup. */
  rows: string
}

/** The rows of events and edits that come after a feed's end, and how the feed ends with them. */
export const rowsAfter = async (
  { services, queries, sessionId, teams, kinds }: Feed,
  before: FeedEnd,
  events: Event[],
  edits: Edit[],
  { first = false, guest = false, budget = lineBudget() }: RowOptions = {},
): Promise<NewRows & { end: FeedEnd }> => {
  const { continued, gone, entries, end } = arrange(before, events, edits)
  const shownEdits = [...continued, ...entries.flatMap(({ edit }) => edit ?? [])]
  const [answered] = await Promise.all([answeredBy(queries, sessionId, events), countEdits(queries, sessionId, shownEdits, budget)])
  const place = { services, queries, sessionId }
  const [agents, proposals] = await Promise.all([agentPartsOf(place, events, [...answered.values()]), proposalPartsOf(place, events)])
  const linesOf = ({ from, to }: Edit) => knownLines(sessionId, from - 1, to)
  const asked = [...answered.values()].filter(isQuestion)
  const questions = await statesOf(queries, sessionId, [...asked, ...events.filter(isQuestion)], teams.key)
  const context = { sessionId, teams, kinds, guest, answered, questions, linesOf, ...agents.shown, proposals: proposals.shown }
  const items = feedItems(entries, before, context)
  if (first && items[0]?.kind === 'message') items[0].continues = false
  return {
    continued: continued.map((edit) => ({ from: edit.from, html: editOf(editItem(edit, context)) })),
    gone: gone.map(({ from }) => from),
    marks: asked.map(({ id, sequence: of }) => ({ of, html: markOf(questionItem(of, questions.get(id)!, teams)) })),
    replaced: [...agents.replaced, ...proposals.replaced],
    rows: await renderRows(items),
    end,
  }
}

// A prompt to a team is a question until its task is ended, whoever ends it.
const statesOf = async (queries: Queries, sessionId: string, asked: (Event & Question)[], key: TeamKey) => {
  const prompts = asked.filter(({ type }) => type === 'user_input').map(({ id }) => id)
  const [states, ended] = await Promise.all([questionStates(queries, sessionId, asked, key), endedPrompts(queries, prompts)])
  for (const prompt of asked) {
    const state = states.get(prompt.id)!
    if (!ended.has(prompt.id) || state.waitingFor.length === 0) continue
    const withdrawn = state.withdrawn ?? { ...prompt, reply_to: prompt.id, expects_reply: null }
    states.set(prompt.id, { ...state, withdrawn, waitingFor: [], waitingForPeople: [] })
  }
  return states
}

// The messages that these reply to or withdraw, by id: some are among them, the others take one read. What a foreign program says is withdrawn
// may be any text.
const answeredBy = async (queries: Queries, sessionId: string, events: Event[]): Promise<Map<string, Event>> => {
  const named = ({ reply_to, event, message_id }: Event) => (event === 'prompt_withdrawn' ? message_id : reply_to)
  const ids = new Set(events.map(named).filter((id): id is string => typeof id === 'string' && isUuid(id)))
  const here = events.filter(({ id }) => ids.has(id))
  for (const { id } of here) ids.delete(id)
  const elsewhere = ids.size === 0 ? [] : await eventsById(queries, sessionId, [...ids])
  return new Map([...here, ...elsewhere].map((event) => [event.id, event]))
}

const editOf = (item: EditItem) => renderToStaticMarkup(<EditRow item={item} />)
const markOf = (item: QuestionItem) => renderToStaticMarkup(<QuestionMark item={item} />)

const isQuestion = (event: Event): event is Event & Question => event.expects_reply === true

// 10,000 rows take a second, in which other requests want to be answered.
const renderRows = async (items: FeedItem[]): Promise<string> => {
  const parts: string[] = []
  let began = performance.now()
  for (let from = 0; from < items.length; from += SLICE) {
    if (performance.now() - began > SLICE_MS) {
      await pause()
      began = performance.now()
    }
    const slice = items.slice(from, from + SLICE)
    for (const item of slice) if (item.kind === 'message') await prepareMarkdown(item.text)
    const rows = slice.map((item) => <FeedRow key={item.kind === 'edit' ? `d${item.from}` : item.sequence} item={item} />)
    parts.push(renderToStaticMarkup(<>{rows}</>))
  }
  return parts.join('')
}
