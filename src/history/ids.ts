// The ids that history gives to sessions, turns and events. Callers treat them as opaque; they stay valid for as long as the log exists.
import { isUuid } from '../core/ids.ts'

export type Ref =
  | { kind: 'session'; session: string }
  | { kind: 'turn'; session: string; turn: number }
  | { kind: 'event'; event: string }
  | { kind: 'session' | 'turn' | 'event'; unknown: true }

const ID = /^(session|turn|event):([A-Za-z0-9_-]{1,128})$/
const TURN = /^([0-9a-f-]{36})_([1-9]\d{0,8})$/

export const sessionRef = (session: string) => `session:${session}`
export const turnRef = (session: string, turn: number) => `turn:${session}_${turn}`
export const eventRef = (event: string) => `event:${event}`

/** Reads an id. `unknown`: it is well formed, but not one of ours. Undefined: it is no id. */
export const parseRef = (id: string): Ref | undefined => {
  const [, kind, rest] = ID.exec(id) ?? []
  if (kind === 'session') return isUuid(rest!) ? { kind, session: rest! } : { kind, unknown: true }
  if (kind === 'event') return isUuid(rest!) ? { kind, event: rest! } : { kind, unknown: true }
  if (kind !== 'turn') return undefined
  const [, session, turn] = TURN.exec(rest!) ?? []
  return session && isUuid(session) ? { kind, session, turn: Number(turn) } : { kind, unknown: true }
}
