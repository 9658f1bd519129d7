// The system events that records write into feeds.
import { cutText } from '../core/budget.ts'
import type { EventKind, SystemEvent } from '../core/events/event-kinds.ts'
import { quoted, whatCanBegin } from '../rooms/work/titles.ts'
import { valueIn } from '../core/lookup.ts'

const ABOUT = { proposal_id: 'which', proposal_type: '`action` or `decision`', title: 'its title' }
const BY = { by: 'whose doing' }
const TO = { to: "the proposer's handle" }

const WHAT: Record<string, string> = { action: 'an action item', decision: 'a decision' }
const what = ({ proposal_type }: SystemEvent) => valueIn(WHAT, String(proposal_type)) ?? 'something'
// Cuts the feedback: the proposal's card has all of it.
const withFeedback = (words: string, { feedback }: SystemEvent) =>
  typeof feedback === 'string' && feedback !== '' ? `${words}: ${cutText(feedback, FEEDBACK_SHOWN)}` : words
const FEEDBACK_SHOWN = 240 // characters

const link = ({ proposal_id }: SystemEvent): string | undefined =>
  typeof proposal_id === 'string' ? `/approvals/${proposal_id}` : undefined

export const eventKinds: readonly EventKind[] = [
  {
    name: 'proposal_made',
    fields: { ...ABOUT, ...BY, expires_at: 'until when a person can decide' },
    summary: 'a person is asked to decide',
    icon: 'message',
    highlighted: true,
    words: (event) => `proposed ${what(event)}: ${quoted(event.title)}`,
    link,
  },
  {
    name: 'proposal_approved',
    fields: {
      ...ABOUT,
      ...BY,
      record_id: 'the decision or the item of the board that it became',
      edited: 'the fields that the approver changed',
      feedback: 'a word from the approver, or null',
      ...TO,
    },
    summary: 'it holds; with `edited`, not quite as it was proposed',
    icon: 'flag',
    highlighted: true,
    words: (event) =>
      withFeedback(
        `approved ${quoted(event.title)}${Array.isArray(event.edited) && event.edited.length > 0 ? ' with changes' : ''}`,
        event,
      ),
    link,
  },
  {
    name: 'proposal_rejected',
    fields: { ...ABOUT, ...BY, feedback: 'why, or null', ...TO },
    summary: 'a person said no: propose something better with `replaces`, or leave it',
    icon: 'dot',
    highlighted: true,
    words: (event) => withFeedback(`rejected ${quoted(event.title)}`, event),
    link,
  },
  {
    name: 'proposal_expired',
    fields: { ...ABOUT, by: 'the name of who proposed it', expires_at: 'since when', ...TO },
    summary: 'nobody decided in time, which is no refusal: propose it again if it still matters',
    icon: 'history',
    words: (event) => `had no answer in time, ${quoted(event.title)} is expired`,
    link,
  },
  {
    name: 'proposal_cancelled',
    fields: { ...ABOUT, ...BY, ...TO },
    summary: 'taken back before it was decided',
    icon: 'dot',
    words: (event) => `cancelled the proposal ${quoted(event.title)}`,
    link,
  },
  {
    name: 'proposal_renewed',
    fields: { ...ABOUT, ...BY, expires_at: 'until when a person can decide', ...TO },
    summary: 'an expired proposal waits for a person again',
    icon: 'reopen',
    words: (event) => `brought back the proposal ${quoted(event.title)}`,
    link,
  },
  {
    name: 'record_withdrawn',
    fields: {
      ...ABOUT,
      ...BY,
      record_id: 'the decision, or the item of the board',
      reason: 'why',
      ready: 'of an action item: what can be claimed now that could not before, each `{ item_id, title }`',
      to: "the proposer's handle, and that of the team that held the item",
    },
    summary: 'an approved decision or action item holds no more',
    icon: 'reopen',
    highlighted: true,
    words: (event) => `withdrew ${quoted(event.title)}${whatCanBegin(event.ready)}`,
    link,
  },
]
