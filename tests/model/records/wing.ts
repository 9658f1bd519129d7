// The wing of records, with the board, and what of rooms moves them: who is there, who convenes, whether the session is open.
import { rooms, roomViews } from '../rooms/wing.ts'
import type { View, Wing } from '../run.ts'
import type { Proposal, Room } from '../state.ts'
import { board } from './board.ts'
import { counts, itemAnswer } from './board-rules.ts'
import { proposing } from './proposals.ts'
import { actionRows, decisionRows, proposalRows, reading } from './reading.ts'

const OF_ROOMS = ['create_session', 'join_session', 'leave_session', 'transfer_convener', 'conclude_session', 'reopen_session', 'append_to_session_doc', 'catch_up'] // prettier-ignore

const ofMeeting = ({ id }: Room) => ({ meeting_id: id, limit: 50 })

const proposalsView = (status: Proposal['status']): View<Room> => ({
  op: 'records.list_approvals',
  input: (room) => ({ ...ofMeeting(room), status }),
  shows: (room) => ({ proposals: proposalRows(room, status) }),
})

/** How often the document says of a proposal that it was decided. */
const entriesIn = (doc: string, id: string) => doc.split(`(/approvals/${id})`).length - 1

const views: View<Room>[] = [
  ...roomViews.filter(({ op }) => op !== 'list_invitations'),
  {
    op: 'read_session_doc',
    shows: () => ({}),
    also: (room, { content }) => room.proposals.every(({ id, inDoc }) => entriesIn(content, id) === Number(inDoc)),
  },
  {
    op: 'list_work',
    input: ({ id }) => ({ session_id: id, limit: 50 }),
    shows: (room) => ({ items: room.items.map((item) => itemAnswer(room, item)), counts: counts(room) }),
  },
  proposalsView('pending'),
  proposalsView('approved'),
  proposalsView('rejected'),
  proposalsView('cancelled'),
  proposalsView('expired'),
  { op: 'records.get_decisions', input: ofMeeting, shows: (room) => ({ decisions: decisionRows(room) }) },
  { op: 'records.get_action_items', input: ofMeeting, shows: (room) => ({ action_items: actionRows(room) }) },
]

const ofRooms = rooms.commands.filter(({ op }) => OF_ROOMS.includes(op)).map((command) => ({ ...command, weight: 1 }))

export const records: Wing = { commands: [...board, ...proposing, ...reading, ...ofRooms], views, subjects: ({ rooms }) => rooms }
