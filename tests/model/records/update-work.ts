// An item of the board changes: who may move it where, and what the session hears of it.
import { pick, refuses, upTo, type Command, type Known, type Verdict } from '../command.ts'
import { tell, type Item, type Room } from '../state.ts'
import { ownerWord, PATHS, teamCalled } from './board.ts'
import { isCircle, itemAnswer, itemOf, overlapsNew, readyItems } from './board-rules.ts'
import { noteWork, PRIORITIES, roleOf, type Role } from './roles.ts'

type Move = 'done' | 'dropped' | 'handed_back' | 'taken_back'

interface Standing {
  role: Role
  holds: boolean
  did: boolean
  takesBack: boolean
  changes: boolean
}

const standingOf = (known: Known, item: Item): Standing => {
  const role = roleOf(known)
  const isHolder = known.self !== undefined && item.holder === known.self.handle
  const [holds, did] = [isHolder && item.status === 'claimed', isHolder && item.status === 'done']
  const takesBack = role === 'convener' || role === 'person'
  const planned = known.self !== undefined && item.plannedBy === known.self.handle
  return { role, holds, did, takesBack, changes: holds || did || planned || takesBack }
}

// Where the item goes; undefined: it stays. A refusal says why not.
const moveOf = (item: Item, status: Item['status'] | undefined, { role, holds, did, takesBack }: Standing): Move | Verdict | undefined => {
  if (status === undefined) return undefined
  if (!holds && !takesBack) {
    if (status === item.status && (did || status !== 'done')) return undefined
    return status === 'done' ? refuses('conflict') : refuses('forbidden')
  }
  if (status === item.status) return undefined
  if (item.withdrawn && role !== 'person') return refuses('forbidden')
  if (status === 'open') return holds ? 'handed_back' : 'taken_back'
  return item.status === 'done' || item.status === 'dropped' ? refuses('conflict') : (status as Move)
}

const EDITS = ['title', 'priority', 'depends_on', 'paths', 'owner', 'note', 'result']

// The fields that change, or why they may not.
const changesOf = ({ room, input }: Known, item: Item, { role, changes }: Standing): Partial<Item> | Verdict => {
  if (EDITS.some((field) => input[field] !== undefined) && item.withdrawn && role !== 'person') return refuses('forbidden')
  const isApproved = item.kind === 'action' && ['title', 'priority', 'owner'].some((field) => input[field] !== undefined)
  if (isApproved && role !== 'person') return refuses('forbidden')
  const { title, priority, depends_on, paths, owner, note, result } = input
  if (depends_on?.some((id: string) => !itemOf(room, id))) return refuses('invalid_request')
  const waits = new Map(room.items.map(({ id, dependsOn }) => [id, dependsOn])).set(item.id, depends_on ?? item.dependsOn)
  if (depends_on && isCircle(waits, [item.id])) return refuses('invalid_request')
  const team = owner && teamCalled(room, owner)
  if (owner && !team) return refuses('invalid_request')
  const wanted = {
    title,
    priority,
    paths,
    dependsOn: depends_on,
    ...(owner !== undefined && { owner: team ? team.name : null }),
    ...(note !== undefined && { note: note || null }),
    ...(result !== undefined && { result: result || null }),
  }
  const isNew = ([field, value]: [string, unknown]) =>
    value !== undefined && JSON.stringify(value) !== JSON.stringify(item[field as 'title'])
  const changed = Object.fromEntries(Object.entries(wanted).filter(isNew))
  return Object.keys(changed).length > 0 && !changes ? refuses('forbidden') : changed // a retry that changes nothing more succeeds
}

const isVerdict = (value: unknown): value is Verdict => typeof value === 'object' && value !== null && 'refuses' in value

/** Finishes, hands back, drops or edits an item. */
export const updateWork: Command = {
  op: 'update_work',
  draws: { which: upTo(4), status: upTo(5), note: upTo(5), result: upTo(5), title: upTo(9), priority: upTo(9), depends: upTo(9), paths: upTo(9), owner: upTo(15) }, // prettier-ignore
  weight: 7,
  input: (room, { which, status, note, result, title, priority, depends, paths, owner }) => ({
    item_id: (which < 4 && room.items[which]?.id) || crypto.randomUUID(),
    ...(status < 4 && { status: pick(['done', 'done', 'open', 'dropped'], status) }),
    ...(note < 2 && { note: pick(['Half of it.', ''], note) }),
    ...(result < 2 && { result: pick(['In src/lexer.', ''], result) }),
    ...(title === 0 && { title: 'Write the whole lexer' }),
    ...(priority < 3 && { priority: PRIORITIES[priority] }),
    ...(depends < 3 && { depends_on: room.items[depends] ? [room.items[depends].id] : [] }),
    ...(paths < 4 && { paths: [PATHS[paths]] }),
    ...(owner < 5 && { owner: owner === 4 ? '' : ownerWord(room, owner) }),
  }),
  judge(known) {
    const { room, input, self } = known
    if (room.closed) return refuses('session_closed')
    if (input.status === undefined && EDITS.every((field) => input[field] === undefined)) return refuses('invalid_request')
    const item = itemOf(room, input.item_id)
    if (!item) return refuses('not_found')
    const standing = standingOf(known, item)
    const move = moveOf(item, input.status, standing)
    if (isVerdict(move)) return move
    const changes = changesOf(known, item, standing)
    if (isVerdict(changes)) return changes
    const widens = changes.paths && (move === undefined || move === 'done') && item.status === 'claimed'
    if (widens && overlapsNew(room, item.holder!, item.paths, changes.paths!)) return refuses('conflict')
    const wasReady = readyItems(room)
    const next = { ...item, ...changes, ...moved(item, move, self) }
    const after = { ...room, items: room.items.map((one) => (one === item ? next : one)) }
    return {
      answers: { item: itemAnswer(after, next) },
      after() {
        const before = { ...item }
        Object.assign(item, next)
        told(known, before, item, move, changes, readyItems(room).filter((one) => !wasReady.includes(one)), room) // prettier-ignore
      },
    }
  },
}

const moved = (item: Item, move: Move | undefined, self: Known['self']): Partial<Item> => {
  if (move === undefined) return {}
  if (move !== 'done') return { status: move === 'dropped' ? 'dropped' : 'open', holder: null, holderName: null, withdrawn: false }
  return { status: 'done', ...(item.holder === null && self && { holder: self.handle, holderName: self.name }) }
}

// Moves are in the feed; edits and notes where they wake nobody.
const told = (
  { speaker, input }: Known,
  before: Item,
  item: Item,
  move: Move | undefined,
  changes: Partial<Item>,
  ready: Item[],
  room: Room,
) => {
  // prettier-ignore
  const { note, result, ...fields } = changes
  const about = { item_id: item.id, title: item.title, by: speaker.name }
  if (Object.keys(fields).length > 0) noteWork(room, 'work_edited', item, speaker)
  if ((note !== undefined && (!move || move === 'done')) || (result !== undefined && move !== 'done'))
    noteWork(room, 'work_noted', item, speaker)
  if (move === 'done' || move === 'dropped') {
    const said = move === 'done' ? { result: item.result } : { note: input.note || null }
    tell(room, `work_${move}`, speaker.whose, { ...about, ...said, ready: ready.map(({ id, title }) => ({ item_id: id, title })) })
  } else if (move) {
    const to = move === 'taken_back' && before.holder && { to: [before.holder] }
    tell(room, 'work_released', speaker.whose, { ...about, team_id: before.holder, reason: move, note: input.note || null, ...to })
  }
}
