// How every program of rooms begins: two sessions, the first with two teams.
import type { Step } from '../command.ts'

const created = (name: number): Step => ({ op: 'create_session', door: 'REST', at: 0, by: 11, key: 0, title: 0, description: 1, name, expected: 2, resume: 0 }) // prettier-ignore

export const TWO_SESSIONS: Step[] = [
  created(0),
  { op: 'join_session', door: 'MCP', at: 0, by: 11, key: 0, name: 1, replay: 9, invite: 7 },
  created(3),
]
