// The feed: said, followed, counted, read back, acknowledged.
import fc from 'fast-check'
import { pick, refuses, type Command, type Known, type Verdict, upTo } from '../command.ts'
import {
  BY_PERSON,
  conversation,
  endOf,
  endOfConversation,
  isAddressedTo,
  isNewsTo,
  PERSON,
  versionOf,
  write,
  type Room,
  type State,
  type Team,
} from '../state.ts'

const TEXTS = ['We are done.', 'é', '**bold**', 'one\ntwo', '\u202eright to left']
const SOMEWHERE = fc.integer({ min: -2, max: 3 }) // a cursor: how far before the end, or beyond it

const cursorAt = (room: Room, before: number) => Math.max(0, endOf(room) - before)

// In the feed or in the document.
const hasSpoken = ({ log, versions }: Room) =>
  log.some(({ wire, whose }) => wire.type === 'chat' && whose === BY_PERSON) ||
  versions.some(({ name, by }) => by === null && name === PERSON)

const postMessage: Command = {
  op: 'post_message',
  draws: { text: upTo(4), bare: fc.boolean(), to: upTo(11), reply: upTo(9), asks: upTo(4), expects: fc.option(SOMEWHERE) },
  weight: 8,
  input: (room, { text, bare, to, reply, asks, expects }) => ({
    content: bare ? pick(TEXTS, text) : { text: pick(TEXTS, text) },
    ...(to < 6 && { to: to === 4 ? ['Nobody'] : to === 5 ? [PERSON] : [pick(room.teams, to).handle] }),
    ...(reply < 4 && { reply_to: (reply < 3 && room.log[reply]?.wire.id) || crypto.randomUUID() }),
    ...(asks === 0 && { expects_reply: true }),
    ...(expects !== null && { expected_cursor: cursorAt(room, expects) }),
  }),
  judge(known) {
    const { room, speaker, self, state } = known
    const { content, to, reply_to, expects_reply, expected_cursor } = known.input
    if (room.closed) return refuses('session_closed')
    if (reply_to && !room.log.some(({ wire }) => wire.id === reply_to)) return refuses('not_found')
    if (expects_reply && !to) return refuses('invalid_request')
    const [word] = to ?? []
    const toPerson = word === PERSON
    if (word && !room.teams.some(({ handle }) => handle === word) && !(toPerson && hasSpoken(room))) return refuses('invalid_request')
    if (expects_reply && (self ? word === self.handle : toPerson)) return refuses('invalid_request') // to oneself alone
    if (expected_cursor > endOf(room)) return refuses('invalid_request', { last_sequence: endOf(room) })
    if (expected_cursor !== undefined && news(room, speaker.whose, expected_cursor) > 0) return crossed(known, expected_cursor)
    const missed = self && expected_cursor === undefined ? news(room, speaker.whose, self.delivered) : 0
    const wire = {
      type: 'chat',
      author: self ? 'team' : 'person',
      team: speaker.name,
      posted_by_team_id: self?.handle ?? null,
      content: { text: content.text ?? content },
      ...(toPerson ? { to_people: to } : to && { to }),
      ...(reply_to && { reply_to }),
      ...(expects_reply && { expects_reply }),
    }
    return {
      answers: { cursor: endOf(room) + 1, ...(missed > 0 && !state.crowded && { missed }) },
      also: (body) => state.crowded || (body.missed ?? 0) === missed,
      after: ({ message_id: id }) => void write(room, { id, ...wire }, speaker.whose),
    }
  },
}

const news = (room: Room, whose: string, after: number) => conversation(room, after).filter((event) => isNewsTo(whose, event)).length

// Nothing is posted: what others said since is handed over.
const crossed = ({ room, self, speaker }: Known, since: number): Verdict => ({
  refuses: 'unread',
  details: {
    unread: news(room, speaker.whose, since),
    messages: rowsOf(conversation(room, since).filter(({ whose }) => whose !== speaker.whose)),
    has_more: false,
  },
  after({ next_cursor }) {
    const skips = self && conversation(room, self.delivered).some((event) => event.sequence <= since && event.whose !== self.handle)
    if (self && !skips) deliver(self, next_cursor, since)
  },
})

const rowsOf = (events: { sequence: number; wire: object }[]) => events.map(({ sequence, wire }) => ({ sequence, ...wire }))

const deliver = (self: Team, delivered: number, seen = 0) => {
  self.delivered = Math.max(self.delivered, delivered)
  self.seen = Math.max(self.seen, seen)
}

type Wait = { since_cursor?: number; only?: 'others' | 'addressed' }

const sinceOf = (room: Room, self: Team, { since_cursor, only }: Wait, began = endOf(room)) =>
  since_cursor ?? Math.min(only === 'addressed' ? Math.max(self.delivered, self.addressed) : self.delivered, endOf(room), began)

// A page, as a team is handed it that asked for it.
const handed = (room: Room, self: Team, wait: Wait, crowded: boolean, began?: number) => {
  const since = sinceOf(room, self, wait, began)
  const wanted = conversation(room, since).filter((event) => {
    if (wait.only === 'addressed') return isAddressedTo(room, event, self.handle)
    return wait.only !== 'others' || event.whose !== self.handle
  })
  // Beside writes, the document is looked at a moment later.
  const version = crowded ? {} : { doc_version: versionOf(room) }
  const answers = { messages: rowsOf(wanted), ...version, session_closed: room.closed, has_more: false }
  const last = wanted.at(-1)?.sequence ?? since
  const isRight = ({ next_cursor }: any) => (wait.only === 'others' ? next_cursor >= last && next_cursor <= endOf(room) : next_cursor === last) // prettier-ignore
  const after = ({ next_cursor }: any) => {
    if (wait.only === 'addressed') self.addressed = Math.max(self.addressed, next_cursor)
    else deliver(self, next_cursor)
  }
  return { answers, isRight, after, moved: wanted.length > 0 || room.closed }
}

const see = (room: Room, self: Team, wait: Wait, began?: number) => {
  const since = sinceOf(room, self, wait, began)
  if (wait.only !== 'addressed') deliver(self, since, since)
}

const WAIT = { since: fc.option(SOMEWHERE, { freq: 2 }), only: fc.constantFrom(undefined, 'others', 'addressed') }
const waitInput = (room: Room, { since, only }: any) => ({
  ...(since !== null && { since_cursor: cursorAt(room, since) }),
  ...(only && { only }),
})

const waitForMessages: Command = {
  op: 'wait_for_messages',
  draws: WAIT,
  weight: 6,
  input: (room, choices) => ({ ...waitInput(room, choices), timeout: 0 }),
  judge({ room, self, input, began, state: { crowded } }) {
    if (input.since_cursor > endOf(room)) return refuses('invalid_request', { last_sequence: endOf(room) })
    const { answers, isRight, after } = handed(room, self!, input, crowded, began)
    return {
      answers,
      also: isRight,
      after(body) {
        see(room, self!, input, began)
        after(body)
      },
    }
  },
}

const roomOf = (state: State, id: string) => state.rooms.find((room) => room.id === id)!

const waitForAny: Command = {
  op: 'wait_for_any',
  draws: { first: fc.record(WAIT), second: fc.record(WAIT), other: upTo(3), twice: upTo(9) },
  input(room, { first, second, other, twice }, { rooms, crowded }) {
    const entry = (of: Room, choices: any, n: number) => ({
      session_id: of.id,
      team_id: pick(of.teams, n).token,
      ...waitInput(of, choices),
    })
    const [one, two] = [entry(room, first, other), entry(pick(rooms, other), second, other + (twice === 0 ? 0 : 1))]
    const same = one.session_id === two.session_id && one.team_id === two.team_id && twice > 0
    return { waits: crowded || same ? [one] : [one, two], timeout: 0 } // beside writes, each session is read at a moment of its own
  },
  misshapen: ({ waits: [one, two] }) => one.session_id === two?.session_id && one.team_id === two.team_id,
  judge({ state, input: { waits } }) {
    const entries = (waits as any[]).map(({ session_id, team_id, ...wait }) => {
      const room = roomOf(state, session_id)
      const self = room.teams.find(({ token }) => token === team_id)!
      if (self.left) return { result: { session_id, error: { code: 'unauthorized' } }, wait, self }
      if (wait.since_cursor > endOf(room)) return { result: { session_id, error: { code: 'invalid_request' } }, wait, self }
      const page = handed(room, self, wait, state.crowded)
      return { result: page.moved ? { session_id, ...page.answers } : undefined, room, wait, self, page }
    })
    const told = entries.filter(({ result }) => result !== undefined)
    return {
      answers: { results: told.map(({ result }) => result) },
      also: ({ results }) => told.every(({ page }, i) => !page || page.isRight(results[i])),
      after({ results }) {
        for (const { page, room, self, wait } of entries) if (page) see(room, self, wait)
        for (const [i, { page }] of told.entries()) page?.after(results[i])
      },
    }
  },
}

const counted = (room: Room, self: Team, delivered: number, addressed: number) => ({
  unread: conversation(room, delivered).filter(({ whose }) => whose !== self.handle).length,
  addressed: conversation(room, addressed).filter((event) => isAddressedTo(room, event, self.handle)).length,
})

const peek: Command = {
  op: 'peek',
  draws: { after: fc.option(SOMEWHERE, { freq: 2 }) },
  weight: 3,
  input: (room, { after }) => ({ ...(after !== null && { after: cursorAt(room, after) }) }),
  judge({ room, self, input: { after } }) {
    if (after > endOf(room)) return refuses('invalid_request', { last_sequence: endOf(room) })
    const { delivered, addressed } = self!
    const counts = counted(room, self!, after ?? delivered, after ?? Math.max(delivered, addressed))
    return { answers: { ...counts, last_cursor: endOfConversation(room), doc_version: versionOf(room), ...(room.closed && { session_closed: true }) } } // prettier-ignore
  },
}

const catchUp: Command = {
  op: 'catch_up',
  weight: 1,
  judge: ({ room, self, state: { crowded } }) => {
    const { handle, name, seen } = self!
    const you = { handle, team_name: name, cursor: seen, last_cursor: endOfConversation(room), ...counted(room, self!, seen, seen) }
    const is_convener = handle === room.convener
    const status = room.closed ? 'closed' : 'active'
    const session = { session_id: room.id, title: room.title, description: room.description, status }
    // Beside writes each part is of a moment of its own, and who convenes is read with the session.
    return { answers: crowded ? { you } : { session, you: { ...you, is_convener }, doc: { version: versionOf(room) } } }
  },
}

/** The rows of get_history, with those that have acknowledged each. */
export const historyRows = (room: Room, events: { sequence: number; wire: object }[]) =>
  rowsOf(events).map((row) => ({
    ...row,
    acknowledged_by: room.teams.filter(({ acknowledged }) => acknowledged >= row.sequence).map(({ handle }) => handle),
  }))

const getHistory: Command = {
  op: 'get_history',
  draws: { before: fc.option(SOMEWHERE, { freq: 2 }), limit: fc.integer({ min: 1, max: 4 }), one: upTo(9) },
  input: (room, { before, limit, one }) => ({
    ...(before !== null && { before_cursor: cursorAt(room, before) }),
    limit,
    ...(one < 3 && { message_id: (one > 0 && room.log.at(-one)?.wire.id) || crypto.randomUUID() }),
  }),
  judge({ room, input: { before_cursor = endOf(room) + 1, limit, message_id } }) {
    if (before_cursor > endOf(room) + 1) return refuses('invalid_request', { last_sequence: endOf(room) })
    const all = conversation(room)
    if (message_id) {
      const one = all.filter(({ wire }) => wire.id === message_id)
      return one.length === 0 ? refuses('not_found') : { answers: { messages: historyRows(room, one), has_more: false } }
    }
    const older = all.filter(({ sequence }) => sequence < before_cursor)
    const page = older.slice(-limit)
    const has_more = older.length > limit
    return { answers: { messages: historyRows(room, page), has_more, next_cursor: has_more ? page[0]!.sequence : null } }
  },
}

const ackMessages: Command = {
  op: 'ack_messages',
  draws: { cursor: SOMEWHERE },
  input: (room, { cursor }) => ({ cursor: cursorAt(room, cursor) }),
  judge({ room, self, input: { cursor } }) {
    if (cursor > endOf(room)) return refuses('invalid_request', { last_sequence: endOf(room) })
    const next = Math.max(self!.acknowledged, cursor)
    return { answers: { cursor: next }, after: () => void (self!.acknowledged = next) }
  },
}

export const feed = [postMessage, waitForMessages, waitForAny, peek, catchUp, getHistory, ackMessages]
