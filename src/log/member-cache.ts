// Who a token is, as this process knows it: looked up for all who ask at the same time, and remembered where that is enough.
import { withinDeadline, type Database } from '../../db/database.ts'
import { putBounded } from '../core/bounded.ts'
import { combine } from '../core/batch-loader.ts'
import { isUuid, type Token } from '../core/ids.ts'
import { Recent } from '../core/recent.ts'
import { findMembers, proves, type Member, type MemberKey } from '../stores/members.ts'

const PROVEN_KEPT = 10_000 // teams whose tokens are remembered as good

/** Look-ups of members for all calls of this process. */
export const membershipOver = (database: Database) => {
  const members = combine((keys: MemberKey[]) => findMembers(database, keys))
  const recent = new Recent<Member>() // by the token's secret, which they proved
  const proven = new Map<string, Member>() // by session and token

  return {
    /** The team of this session that a token proves, gone or present; undefined for any other token and any other session. A token's
     *  meaning never changes, so a caller that looks at the session itself later (`lasting`: an append does, under its lock) may be
     *  given what was found earlier: its head and presence are then of that time. */
    async memberOf(sessionId: string, token: Token, { lasting = false } = {}): Promise<Member | undefined> {
      if (!isUuid(sessionId)) return undefined
      const key = `${sessionId}/${token.handle}.${token.secret}`
      const earlier = lasting ? proven.get(key) : undefined
      if (earlier) return earlier
      const found = recent.of(sessionId) // before the look-up: it is of no use if the session moves meanwhile
      const member = await withinDeadline(members({ sessionId, teamId: token.handle }))
      if (!member || !proves(token, member)) return undefined
      found.set(token.secret, member)
      putBounded(proven, key, member, PROVEN_KEPT)
      return member
    },

    /** For waits, which are woken by whatever comes: the team as it was found a moment ago, if the session was open then and at least
     *  as far as its caller has read. Teams that poll without pause ask the database nothing. */
    memberLately(sessionId: string, token: Token, since: number): Member | undefined {
      const member = recent.of(sessionId).get(token.secret)
      return member?.teamId === token.handle && !member.left && !member.session.closed && member.session.lastSequence >= since
        ? member
        : undefined
    },

    /** The session is not what it was a moment ago; without one, none need be. */
    forget: (sessionId?: string) => (sessionId === undefined ? recent.clear() : recent.moved(sessionId)),
  }
}
