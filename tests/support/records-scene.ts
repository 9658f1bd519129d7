// A session with something to propose, and a person who decides, for tests of records.
import { cookieOf, done, room, viaRest, type Answer, type As, type Call, type Seat, type Served } from './parley.ts'

export const ACTION = { title: 'Write the migration guide' }
export const DECISION = { title: 'The parser is written by hand', description: 'No generator: its errors cannot be explained.' }

/** Calls of a signed-in person, over REST: MCP has no people. */
export const personAt = async (served: Served, name = 'Nora') => {
  const person = await cookieOf(served, { role: 'person', name })
  return (operation: string, input: Record<string, unknown> = {}, as: As = {}) => viaRest(served)(operation, input, { person, ...as })
}

/** Calls of records by a team: its token says which session. */
export const recordsOf =
  (call: Call, seat: Seat) =>
  (name: string, input: Record<string, unknown> = {}, as: As = {}): Promise<Answer> =>
    call(`records.${name}`, input, { team: seat.token, ...as })

/** The session "Shipping the parser": Alex's Team convenes, Bea's Team is there, Nora decides. */
export const recordsScene = async (call: Call, served: Served) => {
  const session = await room(call)
  const nora = await personAt(served)
  const alex = recordsOf(call, session.alex)
  const bea = recordsOf(call, session.bea)
  const resolve = (proposal_id: string, more: Record<string, unknown> = { action: 'approve' }, as: As = {}) =>
    nora('records.resolve_approval', { proposal_id, ...more }, as)
  const proposal = async (proposal_id: string) => (await done(nora('records.get_approval', { proposal_id }))).proposal
  /** The system events of records in the session's feed. */
  const told = async () => {
    const { messages } = await done(session.alex('get_history', { limit: 500 }))
    return (messages as any[]).filter(({ event }) => /^(proposal|record)_/.test(event ?? ''))
  }
  const doc = async () => done(session.alex('read_session_doc')) as Promise<{ content: string; version: number }>
  return { ...session, seats: { alex: session.alex, bea: session.bea }, alex, bea, nora, resolve, proposal, told, doc }
}
