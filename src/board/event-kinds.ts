// The system events that the board writes into feeds. Claims, edits and notes are `runtime` events: they wake nobody.
import type { EventKind, SystemEvent } from '../core/events/event-kinds.ts'
import { quoted, titlesOf, whatCanBegin } from '../rooms/work/titles.ts'
import { valueIn } from '../core/lookup.ts'

const BY = { by: 'the name of the team, person or key' }
const TITLE = { title: 'its title' }
const ITEM = { item_id: 'which item' }
const HOLDER = { to: 'where somebody else ended its work: the handle of the team that held it' }
const READY = { ready: 'what can be claimed now that could not before, each `{ item_id, title }`' }

const REASONS: Record<string, string> = {
  handed_back: 'handed back',
  lease_expired: 'no longer holds',
  left: 'left and gave up',
  taken_back: 'lost',
}
const linkTo = ({ item_id }: SystemEvent, sessionId: string) =>
  `/sessions/${sessionId}/board${typeof item_id === 'string' ? `#w${item_id}` : ''}`

export const eventKinds: readonly EventKind[] = [
  {
    name: 'work_planned',
    fields: {
      ...BY,
      to: 'the handles of teams that own some of it; without owners it is missing',
      items: 'what there is to do, each `{ item_id, title }`',
    },
    summary: 'there is new work to claim',
    icon: 'turns',
    words: ({ items }) => `planned ${titlesOf(items)}`,
    link: linkTo,
  },
  {
    name: 'work_done',
    fields: { ...BY, ...HOLDER, ...READY, ...TITLE, result: 'what came of it, or null', ...ITEM },
    summary: 'an item is done',
    icon: 'flag',
    words: ({ title, ready }) => `finished ${quoted(title)}${whatCanBegin(ready)}`,
    link: linkTo,
  },
  {
    name: 'work_released',
    fields: {
      by: 'who released it; null when a lease ran out',
      to: 'of an item taken back: the handle of the team that had it',
      note: 'what whoever goes on should know, or null',
      team: 'the name of the team that had it',
      ...TITLE,
      reason: '`handed_back`, `lease_expired`, `left` or `taken_back`',
      ...ITEM,
      team_id: "that team's handle",
    },
    summary: 'an item can be claimed again',
    icon: 'resume',
    subject: 'team',
    saysWhy: true,
    words: ({ title, reason }) => `${valueIn(REASONS, String(reason)) ?? 'released'} ${quoted(title)}`,
    link: linkTo,
  },
  {
    name: 'work_dropped',
    fields: { ...BY, ...HOLDER, note: 'why, or null', ...READY, ...TITLE, ...ITEM },
    summary: 'an item is not to be done',
    icon: 'dot',
    words: ({ title, ready }) => `dropped ${quoted(title)}${whatCanBegin(ready)}`,
    link: linkTo,
  },
]
