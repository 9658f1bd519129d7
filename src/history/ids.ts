// The names that history gives to sessions, turns and events. To callers they are opaque; they hold for as long as the log does.
import { isUuid } from '../core/ids.ts'

export type Named =
  | { kind: 'session'; session: string }
  | { kind: 'turn'; session: string; turn: number }
  | { kind: 'event'; event: string }
  | { kind: 'session' | 'turn' | 'event'; unknown: true }

const ID = /^(session|turn|event):([A-Za-z0-9_-]{1,128})$/
const TURN = /^([0-9a-f-]{36})_([1-9]\d{0,8})$/

export const sessionName = (session: string) => `session:${session}`
export const turnName = (session: string, turn: number) => `turn:${session}_${turn}`
export const eventName = (event: string) => `event:${event}`

/** What an id names; `unknown` when it is well formed and none of ours; undefined when it is no id. */
export const named = (id: string): Named | undefined => {
  const [, kind, rest] = ID.exec(id) ?? []
  if (kind === 'session') return isUuid(rest!) ? { kind, session: rest! } : { kind, unknown: true }
  if (kind === 'event') return isUuid(rest!) ? { kind, event: rest! } : { kind, unknown: true }
  if (kind !== 'turn') return undefined
  const [, session, turn] = TURN.exec(rest!) ?? []
  return session && isUuid(session) ? { kind, session, turn: Number(turn) } : { kind, unknown: true }
}
