// How far a caller's reading goes. What lies beyond is answered as what does not exist.
import { refuse } from '../core/errors.ts'
import { isUuid } from '../core/ids.ts'
import { redacted } from '../core/text/text.ts'
import type { Context } from '../operations/context.ts'
import { sessionById, type Session } from '../stores/sessions.ts'
import { roleOf, type Role } from './who-may.ts'

/** The one session that the caller may read; undefined: all of them. A team reads others where pages are open. */
export const onlySession = ({ caller, call }: Context): string | undefined =>
  caller.kind === 'team' && call.mayRead?.() !== true ? caller.member.session.id : undefined

export const mayRead = (context: Context, sessionId: string): boolean => {
  const only = onlySession(context)
  return only === undefined || only === sessionId
}

const noSuchMeeting = (id: string): never =>
  refuse('not_found', 'There is no such session. A meeting_id is the id of its session.', { meeting_id: redacted(id) })

export const noSuchProposal = (id: string): never =>
  refuse('not_found', 'Approval not found. get_proposals has the ids of those that you may read.', { proposal_id: redacted(id) })

export const noSuchRecord = (id: string): never =>
  refuse('not_found', 'There is no such record. get_decisions and get_action_items have the ids of those that you may read.', {
    record_id: redacted(id),
  })

/** The session of this id, or 404. */
export const readableMeeting = async (context: Context, id: string): Promise<Session> => {
  const session = isUuid(id) && mayRead(context, id) ? await sessionById(context.queries, id) : undefined
  return session ?? noSuchMeeting(id)
}

/** What the caller is to this session. A team is the convener or a team of its own session alone, elsewhere it reads. */
export const roleIn = ({ caller }: Context, session: Pick<Session, 'id' | 'convenerTeamId'>): Role =>
  caller.kind === 'team' && caller.member.session.id !== session.id ? 'reader' : roleOf(caller, session.convenerTeamId)
