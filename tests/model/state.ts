// What a model knows: sessions as plain data, so that they can be copied and tried. It is written from what
// AGENTS.md, its pages and requirements.md promise, and shares no code with the program.
import type { Control } from './control/work.ts'

/** A team of a session. The cursors: what waits handed it, what was addressed to it, what it said it has read, what it acknowledged. */
export interface Team {
  handle: string
  token: string
  name: string
  left: boolean
  delivered: number
  addressed: number
  seen: number
  acknowledged: number
}

/** An event: the fields that every reader sees, and whose doing it is (a handle, or person:NAME). */
export interface Logged {
  wire: Record<string, any>
  whose: string
}

/** An item of the board. */
export interface Item {
  id: string
  kind: 'work' | 'action'
  title: string
  description: string
  status: 'open' | 'claimed' | 'done' | 'dropped'
  priority: 'high' | 'medium' | 'low'
  dependsOn: string[]
  paths: string[]
  owner: string | null // a name
  plannedBy: string | null // a handle
  planner: string // a name
  holder: string | null // a handle; of what is done, who did it
  holderName: string | null
  withdrawn: boolean
  untold?: Pick<Team, 'handle' | 'name'> // who left with it while the session was concluded
  note: string | null
  result: string | null
}

export interface Proposal {
  id: string
  type: 'action' | 'decision'
  title: string
  description: string | null
  status: 'pending' | 'approved' | 'rejected' | 'expired' | 'cancelled'
  by: string | null // a handle
  byName: string
  replaces: string | null
  edited: string[]
  feedback: string | null
  resolvedBy: string | null // a name
  record: string | null
  withdrawn: boolean
  inDoc: boolean
}

/** `content` is undefined until it was read once: the program alone words the document of a session that continues another. */
export interface Version {
  content: string | undefined
  by: string | null
  name: string
}

export interface Invitation {
  id: string
  code: string
  joins: number
  joined: number
  revoked: boolean
}

export interface Room {
  id: string
  title: string
  description: string
  expected: number
  resumedFrom: string | null
  closed: boolean
  convener: string
  teams: Team[]
  log: Logged[]
  versions: Version[]
  invitations: Invitation[] // in the order in which they were made
  items: Item[] // in the order of planning
  proposals: Proposal[] // in the order in which they were made
  records: string[] // the ids of decisions and action items, in the order of their approval
  persons: Record<string, string> // names with their person_id, as far as answers told it
}

/** An answer that is kept under an idempotency key. */
export interface Kept {
  op: string
  input: string
  body: any
  /** The credential that the call brought, and was answered. */
  token?: string
}

export interface State {
  run: string // makes the keys of one run its own
  rooms: Room[]
  control: Control
  kept: Record<string, Kept>
  /** Calls are made at the same time: what an answer says of what happened beside it is not told in advance. */
  crowded: boolean
}

export const newState = (): State => ({ run: crypto.randomUUID(), rooms: [], control: noControl(), kept: {}, crowded: false })

const noControl = (): Control => ({
  keys: {},
  runner: { id: '', name: '', worktree: '', path: '', repo: '', former: [] },
  work: [],
  order: [],
})

export const PERSON = 'Nora'
export const BY_PERSON = `person:${PERSON}`

/** The last sequence of the log. */
export const endOf = ({ log }: Room): number => log.length

export const versionOf = ({ versions }: Room): number => versions.length

export const contentOf = ({ versions }: Room): string | undefined => (versions.length === 0 ? '' : versions.at(-1)!.content)

export const isConversation = ({ wire }: Logged): boolean => ['chat', 'system', 'user_input'].includes(wire.type)

/** The conversation after a cursor, each event with its sequence. */
export const conversation = ({ log }: Room, after = 0): (Logged & { sequence: number })[] =>
  log.map((event, i) => ({ ...event, sequence: i + 1 })).filter((event) => event.sequence > after && isConversation(event))

/** The last sequence of the conversation. */
export const endOfConversation = (room: Room): number => room.log.findLastIndex(isConversation) + 1

/** Writes an event. Returns its sequence. */
export const write = (room: Room, wire: Record<string, any>, whose: string): number => room.log.push({ wire, whose })

/** Writes a system event. */
export const tell = (room: Room, event: string, whose: string, fields: Record<string, any>): number =>
  write(room, { type: 'system', event, ...fields }, whose)

/** `content`: undefined where what was there before is not known. */
export const writeDoc = (room: Room, content: string | undefined, { whose, name }: Speaker): number =>
  room.versions.push({ content, by: whose.startsWith('person:') ? null : whose, name })

/** Who calls, as the log names them. */
export interface Speaker {
  whose: string
  name: string
}

export const isAddressedTo = (room: Room, { wire, whose }: Logged, handle: string): boolean =>
  whose !== handle &&
  (wire.to?.includes(handle) || room.log.some((other) => other.wire.id === wire.reply_to && other.wire.posted_by_team_id === handle))

/** Is it another's, and worth reading before one speaks? */
export const isNewsTo = (whose: string, event: Logged): boolean =>
  (['chat', 'user_input'].includes(event.wire.type) || event.wire.event === 'session_metadata_updated') && event.whose !== whose

export const presentTeams = ({ teams }: Room): Team[] => teams.filter(({ left }) => !left)
