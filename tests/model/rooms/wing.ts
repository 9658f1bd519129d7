// The wing of rooms: its commands, and what must look the same after each of them.
import type { View, Wing } from '../run.ts'
import { contentOf, type Logged, type Room } from '../state.ts'
import { docAnswer, document, docVersions } from './document.ts'
import { feed, historyRows } from './feed.ts'
import { invitationRows, people } from './people.ts'
import { sessionAnswer, sessions } from './sessions.ts'
import { roster, teams } from './teams.ts'

const numbered = (log: readonly Logged[]) => log.map(({ wire }, i) => ({ sequence: i + 1, wire }))

export const roomViews: View<Room>[] = [
  {
    op: 'read_session_doc',
    always: true,
    shows: (room) => docAnswer(room),
    learns(room, { content }) {
      if (contentOf(room) === undefined && room.versions.length > 0) room.versions.at(-1)!.content = content
    },
  },
  { op: 'get_doc_history', shows: (room) => docVersions(room) },
  {
    op: 'get_history',
    always: true,
    input: ({ id }: Room) => ({ session_id: id, limit: 500, include_trace: true }),
    shows: (room) => ({ messages: historyRows(room, numbered(room.log)) }),
    // The log gives ids to events that answers do not name.
    begins: (room, { messages }) =>
      historyRows(room, numbered(room.log)).every(({ acknowledged_by: _, ...row }, i) => messages[i] && Bun.deepMatch(row, messages[i])),
    learns: ({ log }, { messages }) => messages.forEach(({ id }: { id: string }, i: number) => log[i] && (log[i].wire.id ??= id)),
  },
  { op: 'list_participants', shows: (room) => roster(room) },
  { op: 'get_session', shows: sessionAnswer },
  { op: 'list_invitations', shows: invitationRows },
]

export const rooms: Wing = {
  commands: [...sessions, ...teams, ...document, ...feed, ...people],
  views: roomViews,
  subjects: ({ rooms }) => rooms,
}
