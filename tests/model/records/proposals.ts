// Proposed, decided, taken back, withdrawn.
import { pick, refuses, upTo, type Command, type Known, type Verdict } from '../command.ts'
import { PERSON, tell, type Proposal, type Room } from '../state.ts'
import { readyItems } from './board-rules.ts'
import { roleOf } from './roles.ts'

const TITLES = ['Write the migration guide', 'WRITE the  migration guide', 'Ship on Friday']
const named = (title: string) => title.toLowerCase().replace(/\s+/g, ' ')
const DRAWS = { title: upTo(2), why: upTo(1), replaces: upTo(9), quote: upTo(5), meeting: upTo(1) }

const proposalOf = (room: Room, id: string) => room.proposals.find((one) => one.id === id)

const input = (room: Room, { title, why, replaces, quote, meeting }: any, isAction: boolean, self: unknown) => ({
  title: pick(TITLES, title),
  ...(why === 1 && (isAction ? { description: 'In docs.' } : { rationale: 'It is time.' })),
  ...(!isAction && { description: 'All of it.' }),
  ...(replaces < 3 && { replaces: room.proposals[replaces]?.id ?? crypto.randomUUID() }),
  ...(quote < 2 && { source_event_id: (quote === 0 && room.log[0]?.wire.id) || crypto.randomUUID() }),
  ...((!self || meeting === 1) && { meeting_id: room.id }),
})

const propose = (type: Proposal['type'], op: string): Command => ({
  op,
  draws: DRAWS,
  weight: 6,
  input: (room, choices, _, self) => input(room, choices, type === 'action', self),
  judge(known) {
    const { room, self, person, speaker, input: said } = known
    if (type === 'decision' && roleOf(known) === 'team') return refuses('forbidden')
    if (room.closed) return refuses('session_closed')
    if (said.source_event_id && !room.log.some(({ wire }) => wire.id === said.source_event_id)) return refuses('invalid_request')
    const before = said.replaces && proposalOf(room, said.replaces)
    const owns = before && (person ? before.by === null : before.by === self!.handle)
    if (said.replaces && !owns) return refuses('invalid_request')
    if (before?.status === 'approved') return refuses('conflict', { status: 'approved' })
    const isSame = (one: Proposal) => one.type === type && one.status === 'pending' && named(one.title) === named(said.title)
    const same = room.proposals.find((one) => isSame(one) && one !== before)
    if (same) return refuses('conflict', { proposal_id: same.id })
    const { title, description = null } = said
    return {
      answers: { type, status: 'pending', data: { title, description } },
      after({ id }) {
        if (before?.status === 'pending') resolve(known, before, 'cancelled')
        const common = { edited: [], feedback: null, resolvedBy: null, record: null, withdrawn: false, inDoc: false }
        const by = { by: self?.handle ?? null, byName: speaker.name }
        room.proposals.push({ id, type, title, description, status: 'pending', ...by, replaces: said.replaces ?? null, ...common })
        tell(room, 'proposal_made', speaker.whose, { proposal_id: id, proposal_type: type, title, by: speaker.name })
      },
    }
  },
})

// The outcome is told in a closed session too, to whoever proposed.
const outcome = (room: Room, event: string, one: Proposal, whose: string, fields: object) =>
  tell(room, event, whose, { proposal_id: one.id, proposal_type: one.type, title: one.title, ...(one.by && { to: [one.by] }), ...fields })

const resolve = ({ room, speaker }: Known, one: Proposal, status: Proposal['status'], fields = {}) => {
  Object.assign(one, { status, resolvedBy: speaker.name })
  outcome(room, `proposal_${status}`, one, speaker.whose, { by: speaker.name, ...fields })
}

const become = ({ status, resolvedBy }: Proposal): Verdict =>
  refuses('conflict', { status, resolved_by: resolvedBy === null ? null : { name: resolvedBy } })

const which = (room: Room, number: number): string => (number < 4 && room.proposals[number]?.id) || crypto.randomUUID()
const underProposal = { scope: ({ proposal_id }: any) => `proposal/${proposal_id}` }

const cancel = (op: string): Command => ({
  op,
  ...underProposal,
  draws: { which: upTo(4) },
  weight: 3,
  input: (room, choices) => ({ proposal_id: which(room, choices.which) }),
  judge(known) {
    const { room, self, person, input: asked } = known
    const one = proposalOf(room, asked.proposal_id)
    if (!one) return refuses('not_found')
    if (!person && (!self || one.by !== self.handle)) return refuses('forbidden')
    if (one.status !== 'pending') return become(one)
    return { answers: { id: one.id, status: 'cancelled' }, after: () => resolve(known, one, 'cancelled') }
  },
})

const decide: Command = {
  op: 'records.resolve_approval',
  ...underProposal,
  draws: { which: upTo(4), reject: upTo(3), edits: upTo(6), feedback: upTo(3) },
  weight: 8,
  input: (room, choices) => ({
    proposal_id: which(room, choices.which),
    action: choices.reject === 0 ? 'reject' : 'approve',
    ...(choices.edits < 3 && { edits: pick([{ title: 'Ship on Monday' }, { priority: 'high' }, { title: null }], choices.edits) }),
    ...(choices.feedback === 0 && { feedback: 'Well said.' }),
  }),
  judge(known) {
    const { room, person, input: asked } = known
    const one = proposalOf(room, asked.proposal_id)
    if (!one) return refuses('not_found')
    if (!person) return refuses('forbidden')
    const { action, edits, feedback = null } = asked
    if (action === 'reject' && edits) return refuses('invalid_request')
    if (edits && (edits.title === null || (edits.priority && one.type === 'decision'))) return refuses('invalid_request')
    if (one.status !== 'pending') return become(one)
    const status = action === 'approve' ? ('approved' as const) : ('rejected' as const)
    const edited = [...(edits?.title && edits.title !== one.title ? ['title'] : []), ...(edits?.priority ? ['priority'] : [])]
    return {
      answers: { success: true, proposal: { id: one.id, status, edited, feedback, resolved_by: { name: PERSON } } },
      also: ({ record }) => (record !== null) === (status === 'approved'),
      after({ proposal }) {
        Object.assign(one, { edited, feedback, title: edits?.title ?? one.title, record: proposal.record_id })
        if (status === 'approved') record(known, one, edits?.priority ?? 'medium')
        resolve(known, one, status, { feedback, ...(status === 'approved' && { record_id: one.record, edited }) })
      },
    }
  },
}

// A decision goes into the document of an open session, an action item on the board.
const record = ({ room }: Known, one: Proposal, priority: 'high' | 'medium' | 'low') => {
  const { record: id, title, description, by: plannedBy, byName: planner } = one
  room.records.push(id!)
  if (one.type === 'decision') return writeDecision(room, one)
  const nobodys = { owner: null, holder: null, holderName: null, withdrawn: false, note: null, result: null }
  room.items.push({ id: id!, kind: 'action', title, description: description ?? '', status: 'open', priority, dependsOn: [], paths: [], plannedBy, planner, ...nobodys }) // prettier-ignore
}

// How it is worded is the program's own: the view of the document counts the entries.
const writeDecision = (room: Room, one: Proposal) => {
  if (room.closed) return
  one.inDoc = true
  room.versions.push({ content: undefined, by: null, name: PERSON })
}

const renew: Command = {
  op: 'records.renew_approval',
  ...underProposal,
  draws: { which: upTo(4), late: upTo(1) },
  weight: 4,
  input: (room, choices) => ({ proposal_id: which(room, choices.which) }),
  // Its time runs out first.
  async beforehand({ session, person, input: { proposal_id } }, { late }, { rooms }, database) {
    const room = rooms.find(({ id }) => id === session)!
    if (late === 0 || !person || proposalOf(room, proposal_id)?.status !== 'pending') return false
    await database.query(`update proposals set expires_at = clock_timestamp() - interval '1 second' where id = $1`, [proposal_id])
    return true
  },
  judge({ room, person, speaker, input: asked, prepared }) {
    const one = proposalOf(room, asked.proposal_id)
    if (!one) return refuses('not_found')
    if (!person) return refuses('forbidden')
    if (!prepared) return become(one)
    return {
      answers: { proposal: { id: one.id, status: 'pending', resolved_by: null } },
      after() {
        outcome(room, 'proposal_expired', one, `person:${one.byName}`, { by: one.byName })
        outcome(room, 'proposal_renewed', one, speaker.whose, { by: speaker.name })
      },
    }
  },
}

const withdraw: Command = {
  op: 'records.withdraw_record',
  scope: ({ record_id }) => `record/${record_id}`,
  draws: { which: upTo(4) },
  weight: 4,
  input: (room, choices) => ({
    record_id: room.proposals.filter(({ record }) => record !== null)[choices.which]?.record ?? crypto.randomUUID(),
    reason: 'No longer.',
  }),
  judge({ room, person, speaker, input: { record_id, reason } }) {
    const one = room.proposals.find((proposal) => proposal.record === record_id)
    if (!one) return refuses('not_found')
    if (!person) return refuses('forbidden')
    const item = room.items.find(({ id }) => id === record_id)
    const status = one.type === 'decision' ? 'withdrawn' : 'dropped'
    if (one.type === 'decision' ? one.withdrawn : item!.status === 'dropped') return refuses('conflict', { status })
    return {
      answers: { record_id, type: one.type, status },
      after() {
        const wasReady = readyItems(room)
        const holder = item?.status === 'claimed' ? item.holder : null
        if (one.type === 'decision') one.withdrawn = true
        else Object.assign(item!, { status: 'dropped', withdrawn: true, note: reason })
        if (holder) Object.assign(item!, { holder: null, holderName: null }) // who did it stays
        if (one.inDoc) writeDecision(room, one)
        const ready = room.closed ? [] : readyItems(room).filter((other) => !wasReady.includes(other))
        const to = [...new Set([one.by, holder].filter((handle) => handle !== null))]
        outcome(room, 'record_withdrawn', one, speaker.whose, {
          by: speaker.name,
          record_id,
          reason,
          ...(to.length > 0 && { to }),
          ...(item && { ready: ready.map(({ id, title }) => ({ item_id: id, title })) }),
        })
      },
    }
  },
}

export const proposing = [
  propose('action', 'records.propose_action_item'),
  propose('decision', 'records.propose_decision'),
  cancel('records.cancel_proposal'),
  cancel('records.cancel_approval'),
  decide,
  renew,
  withdraw,
]
