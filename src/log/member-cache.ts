// Which team a token proves: looked up in batches for all calls of this process, and cached where an older answer is enough.
import { LRUCache } from 'lru-cache'
import { withinDeadline, type Database } from '../../db/database.ts'
import { createBatchLoader } from '../core/runtime/batch-loader.ts'
import { isUuid, type Token } from '../core/ids.ts'
import { findMembers, proves, type Member, type MemberId } from '../stores/members.ts'
import { RecentLookups } from './recent-lookups.ts'

const PROVEN_KEPT = 10_000
const PROVEN_MS = 5_000 // a token that another instance replaced posts here no longer than this, even if the notification was lost

/** Topics of teams whose token has been replaced. */
export const TOKEN_KIND = 'token'

/** Lookups of members for all calls of this process. */
export const createMemberCache = (database: Database) => {
  const members = createBatchLoader((keys: MemberId[]) => findMembers(database, keys))
  const recent = new RecentLookups<Member>() // by the token's secret
  const proven = new LRUCache<string, Member>({ max: PROVEN_KEPT, ttl: PROVEN_MS }) // by session and token

  return {
    /** The team of this session that a token proves, gone or present; undefined for any other token and any other session. A token's
     *  team never changes, so a caller that reads the session itself later (`lasting`: an append does, under its lock) may be given a
     *  member of any age, whose head and presence are then of that age too. */
    async memberOf(sessionId: string, token: Token, { lasting = false } = {}): Promise<Member | undefined> {
      if (!isUuid(sessionId)) return undefined
      const key = `${sessionId}/${token.handle}.${token.secret}`
      const earlier = lasting ? proven.get(key) : undefined
      if (earlier) return earlier
      const cached = recent.of(sessionId) // before the lookup: if the session moves meanwhile, this map is discarded
      const member = await withinDeadline(members({ sessionId, teamId: token.handle }))
      if (!member || !proves(token, member)) return undefined
      cached.set(token.secret, member)
      proven.set(key, member)
      return member
    },

    /** For waits, which an append wakes: the team from a lookup of the last half second, unless it has left, the session was closed, or the
     *  log was then shorter than the caller's cursor. Teams that poll without pause cost no query. */
    cachedMember(sessionId: string, token: Token, since: number): Member | undefined {
      const member = recent.of(sessionId).get(token.secret)
      return member?.teamId === token.handle && !member.left && !member.session.closed && member.session.lastSequence >= since
        ? member
        : undefined
    },

    /** Drops what is cached as proven for this team: its token was replaced. */
    endToken(teamId: string) {
      for (const key of proven.keys()) if (key.includes(`/${teamId}.`)) proven.delete(key)
    },

    /** Drops the members looked up in this session, which has moved; without an argument, those of all sessions. */
    forget: (sessionId?: string) => (sessionId === undefined ? recent.clear() : recent.invalidate(sessionId)),
  }
}
