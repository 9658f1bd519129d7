// The system events that a room's operations write into its feed.
import { newTitle, type EventKind } from '../core/events/event-kinds.ts'

const TEAM = { team: "the team's name", team_id: 'its handle' }
const BY = { by: 'the name of the team or person' }
const REASON = { reason: 'why' }

export const eventKinds: readonly EventKind[] = [
  { name: 'team_joined', fields: TEAM, summary: 'a team joined', icon: 'join', subject: 'team', words: () => 'joined' },
  { name: 'team_left', fields: TEAM, summary: 'a team left', icon: 'leave', subject: 'team', words: () => 'left' },
  {
    name: 'convener_changed',
    fields: { by: 'the name of who passed it on', team: "the new convener's name", team_id: 'its handle' },
    summary: 'another team is responsible for the conclusion',
    icon: 'users',
    subject: 'team',
    words: () => 'is now the convener',
  },
  {
    name: 'session_metadata_updated',
    fields: { ...BY, reason: 'why', changes: '`title`, `description` or both, each `{ from, to }`' },
    summary: 'the scope or goal changed',
    icon: 'pencil',
    words: (event) => (newTitle(event) === undefined ? 'changed the description' : 'renamed the session'),
  },
  {
    name: 'session_concluded',
    fields: { ...BY, doc_version: 'the version of the document with the conclusion' },
    summary: 'the session is over, or its conclusion was revised',
    icon: 'flag',
    highlighted: true,
    words: () => 'concluded the session',
  },
  {
    name: 'session_reopened',
    fields: { ...BY, ...REASON },
    summary: 'work goes on here',
    icon: 'reopen',
    words: () => 'reopened the session',
  },
]
