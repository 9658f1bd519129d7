// The kind of caller that most operations of rooms take. What an operation then knows of it is declared with the other kinds
// (operations/callers.ts).
import { z } from 'zod'
import { refuse } from '../core/errors.ts'
import { parseToken } from '../core/ids.ts'
import type { CallerKind } from '../operations/callers.ts'
import type { Services } from '../process/services.ts'
import { inControl } from './in-control.ts'
import { mayHaveSeats, seatedMember, seatHolderOf } from '../stores/control/seats.ts'
import { isGoodKey, type Key } from '../stores/keys.ts'
import { isPresent, type Member } from '../stores/members.ts'

/** A team of the session that `session_id` names, by its team_id: the argument, else the header X-Team-ID. A key that has a seat in that
 *  session needs none. */
export const team: CallerKind<'team'> = {
  kind: 'team',
  carries: { team_id: z.string().max(200).optional().describe('The team_id you were given.') },
  credentialIn(call, raw) {
    const given = raw.team_id ?? call.token
    if (given === undefined) return call.key && mayHaveSeats(call.key) ? { text: BY_SEAT } : undefined
    const text = typeof given === 'string' ? given : '' // the check of the shape refuses it
    return { text, secret: parseToken(text)?.secret }
  },
  async resolve({ text }, { operation, services, call, input }) {
    if (text === BY_SEAT && call.key && mayHaveSeats(call.key)) {
      const member = await memberBySeat(services, call.key, input.session_id)
      return member && { kind: 'team', id: member.teamId, ended: member.left, member, keyId: call.key.id }
    }
    const token = parseToken(text)
    if (!token) return undefined
    const cached = operation.held && services.cachedMember(input.session_id, token, input.since_cursor ?? 0)
    const member = cached || (await services.memberOf(input.session_id, token, { lasting: operation.effect === 'append' }))
    return member && { kind: 'team', id: member.teamId, ended: member.left, member }
  },
  isCurrent: async (tx, { member, keyId }) =>
    (await isPresent(tx, member.session.id, member.teamId)) && (keyId === undefined || (await isGoodKey(tx, keyId))),
}

const BY_SEAT = 'seat'

/** The team as which a key speaks in this session, by the seat that it has there. */
export const memberBySeat = async ({ database }: Services, key: Key | undefined, sessionId: string): Promise<Member | undefined> => {
  if (!key || !mayHaveSeats(key)) return undefined
  const member = await seatedMember(database, seatHolderOf(key), sessionId)
  if (!member && key.scope === 'agent' && sessionId === 'current') refuseCurrent()
  return member
}

// An agent that has the tools of rooms and of control meets a get_session in each.
const refuseCurrent = (): never =>
  refuse(
    'invalid_request',
    `\`current\` is known to ${inControl('get_session')}. Call that with it, and give the session_id that it answers here.`,
    { field: 'session_id' },
  )
