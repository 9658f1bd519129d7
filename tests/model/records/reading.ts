// What was proposed, decided and agreed, read again.
import { pick, refuses, upTo, type Command } from '../command.ts'
import { PERSON, versionOf, type Proposal, type Room, type State } from '../state.ts'

/** A proposal as every door shows it. */
export const proposalRow = ({
  id,
  type,
  title,
  description,
  status,
  by,
  byName,
  replaces,
  edited,
  feedback,
  resolvedBy,
  record,
}: Proposal) => ({
  id,
  type,
  status,
  replaces,
  edited,
  feedback,
  data: { title, description },
  proposed_by: { name: byName },
  team_id: by,
  resolved_by: resolvedBy === null ? null : { name: resolvedBy },
  record_id: record,
})

/** Pending ones oldest first, others newest first. */
export const proposalRows = ({ proposals }: Room, status: Proposal['status'], type?: Proposal['type']) => {
  const rows = proposals.filter((one) => one.status === status && (type === undefined || one.type === type)).map(proposalRow)
  return status === 'pending' ? rows : rows.toReversed()
}

const STATUSES = ['pending', 'approved', 'rejected', 'expired', 'cancelled'] as const

const proposals = (op: string): Command => ({
  op,
  draws: { which: upTo(7), status: upTo(7), type: upTo(3) },
  input: (room, { which, status, type }) => ({
    meeting_id: room.id,
    ...(which < 3 && { proposal_id: room.proposals[which]?.id ?? crypto.randomUUID() }),
    ...(status < 5 && { status: STATUSES[status] }),
    ...(type < 2 && { type: pick(['action', 'decision'], type) }),
    limit: 50,
  }),
  judge({ room, input: { proposal_id, status, type } }) {
    if (!proposal_id) return { answers: { proposals: proposalRows(room, status ?? 'pending', type), has_more: false } }
    const one = room.proposals.find(({ id }) => id === proposal_id)
    if (!one) return refuses('not_found')
    const fits = (!status || one.status === status) && (!type || one.type === type)
    return { answers: { proposals: fits ? [proposalRow(one)] : [] } }
  },
})

const getApproval: Command = {
  op: 'records.get_approval',
  draws: { which: upTo(4) },
  input: (room, { which }) => ({ proposal_id: (which < 4 && room.proposals[which]?.id) || crypto.randomUUID() }),
  judge({ room, input: { proposal_id } }) {
    const one = room.proposals.find(({ id }) => id === proposal_id)
    return one ? { answers: { proposal: proposalRow(one) } } : refuses('not_found')
  },
}

const recorded = (room: Room, type: Proposal['type']) =>
  room.proposals
    .filter((one) => one.type === type && one.record !== null)
    .map((one) => ({ one, place: room.records.indexOf(one.record!) }))
    .toSorted((a, b) => b.place - a.place)
    .map(({ one }) => one)

/** The rows of get_decisions: the newest first. */
export const decisionRows = (room: Room) =>
  recorded(room, 'decision').map(({ id, record, title, description, withdrawn, byName, edited }) => ({
    decision_id: record,
    title,
    description,
    edited,
    status: withdrawn ? 'withdrawn' : 'in_force',
    proposed_by: { name: byName },
    approved_by: { name: PERSON },
    proposal_id: id,
  }))

/** The rows of get_action_items. */
export const actionRows = (room: Room, status?: string) =>
  recorded(room, 'action').flatMap(({ id, record, edited }) => {
    const item = room.items.find((one) => one.id === record)!
    const { title, priority, result, holder, holderName } = item
    const claimed_by = holder === null ? null : { team_id: holder, team_name: holderName }
    return status && item.status !== status ? [] : [{ item_id: record, status: item.status, title, priority, result, claimed_by, edited, proposal_id: id }] // prettier-ignore
  })

const getDecisions: Command = {
  op: 'records.get_decisions',
  draws: { search: upTo(3) },
  input: (room, { search }) => ({ meeting_id: room.id, limit: 50, ...(search === 0 && { search: 'friday' }) }),
  judge({ room, input: { search } }) {
    const says = ({ title }: { title: string }) => search === undefined || title.toLowerCase().includes(search)
    return { answers: { decisions: decisionRows(room).filter(says), has_more: false } }
  },
}

const getActionItems: Command = {
  op: 'records.get_action_items',
  draws: { status: upTo(6) },
  input: (room, { status }) => ({ meeting_id: room.id, limit: 50, ...(status < 4 && { status: pick(['open', 'claimed', 'done', 'dropped'], status) }) }), // prettier-ignore
  judge: ({ room, input: { status } }) => ({ answers: { action_items: actionRows(room, status), has_more: false } }),
}

const meetingRow = (room: Room) => {
  const actions = actionRows(room)
  const open = actions.filter(({ status }) => status === 'open' || status === 'claimed').length
  const pending = proposalRows(room, 'pending').length
  return {
    meeting_id: room.id,
    title: room.title,
    status: room.closed ? 'closed' : 'active',
    counts: { action_items: actions.length, open_action_items: open, decisions: decisionRows(room).length, pending },
  }
}

const getMeetings: Command = {
  op: 'records.get_meetings',
  weight: 1,
  judge: ({ state }) => ({
    answers: {},
    // The newest first; others may have opened some meanwhile.
    also: ({ meetings }) => newestFirst(state).every((row) => meetings.some((one: any) => one.meeting_id === row.meeting_id && Bun.deepEquals(one.counts, row.counts))), // prettier-ignore
  }),
}
const newestFirst = ({ rooms }: State) => rooms.slice(-5).map(meetingRow)

const getMeetingDetails: Command = {
  op: 'records.get_meeting_details',
  weight: 1,
  input: ({ id }) => ({ meeting_id: id }),
  judge: ({ room, state: { crowded } }) => ({
    answers: {
      meeting: meetingRow(room),
      // Each of these is read for itself: beside writes they are of moments of their own.
      ...(!crowded && {
        description: room.description,
        decisions: decisionRows(room),
        action_items: actionRows(room),
        ...(versionOf(room) === 0 && { notes: '' }),
      }),
    },
  }),
}

const getPersonContext: Command = {
  op: 'records.get_person_context',
  draws: { known: upTo(3) },
  weight: 1,
  input: ({ persons }, { known }) => ({ person_id: Object.values(persons)[known] ?? crypto.randomUUID() }),
  judge({ room, input: { person_id } }) {
    const [name] = Object.entries(room.persons).find(([, id]) => id === person_id) ?? []
    return name === undefined
      ? refuses('not_found')
      : { answers: { person: { person_id, name, kind: name === PERSON ? 'person' : 'team' } } }
  },
}

const searchContent: Command = {
  op: 'records.search_content',
  weight: 1,
  input: () => ({ query: 'migration guide', limit: 50 }),
  judge: ({ room }) => {
    const titles = [...decisionRows(room), ...actionRows(room)].map(({ title }) => title)
    return {
      answers: {},
      // The best first. Other sessions have the same words, so that a title may be one of too many.
      also: ({ results }) =>
        results.every(({ score }: any, i: number) => score <= 1 && (i === 0 || score <= results[i - 1].score)) &&
        (results.length === 50 || titles.filter((title) => /guide/i.test(title)).every((title) => results.some((one: any) => one.title === title))), // prettier-ignore
    }
  },
}

export const reading = [
  proposals('records.get_proposals'),
  proposals('records.list_approvals'),
  getApproval,
  getDecisions,
  getActionItems,
  getMeetings,
  getMeetingDetails,
  getPersonContext,
  searchContent,
]
