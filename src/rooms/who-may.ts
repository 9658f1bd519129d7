// What a caller may do.
import { refuse } from '../core/errors.ts'
import type { Context } from '../operations/context.ts'
import type { Session } from '../stores/sessions.ts'

/** Whether the caller is the team that convenes this session: no person or key ever is. */
export const isConvener = ({ caller }: Context, session: Session) =>
  caller.kind === 'team' && caller.member.teamId === session.convenerTeamId

/** Refuses everybody but the convener and people, if CONVENER_ONLY names this act. */
export const convenerOnly = (context: Context, session: Session, act: 'conclude' | 'metadata') => {
  const acts = context.services.config.CONVENER_ONLY
  if (!acts?.includes(act)) return
  if (context.caller.kind === 'person' || isConvener(context, session)) return
  const next =
    session.status === 'closed'
      ? 'Ask a person.'
      : 'Ask the convener in the feed, or a person; if it has left, transfer_convener makes another team the convener.'
  refuse('forbidden', `On this server only the convener or a signed-in person may do this (CONVENER_ONLY=${acts.join(',')}). ${next}`)
}

/** Refuses to reopen a session to every team but its convener. */
export const convenerReopens = (context: Context, session: Session) => {
  if (context.caller.kind === 'team' && !isConvener(context, session))
    refuse(
      'forbidden',
      'Only the convener or a signed-in person can reopen a session. To continue in a new one, call create_session with resume_from.',
    )
}
