// Work that is open again because its claim has ended.
import type { Context } from '../../operations/context.ts'
import { releaseClaimsOf, type Released } from '../../stores/records/leases.ts'
import { takesWrites, type Session } from '../../stores/sessions.ts'

export interface Release {
  reason: 'handed_back' | 'lease_expired' | 'left' | 'taken_back'
  /** Who did it; nobody when a lease ran out. */
  by: string | null
  note?: string | undefined
}

/** Tells the session that these items can be claimed. Nothing is added to a feed that has ended. */
export const appendReleased = async (
  context: Context,
  session: Session,
  released: readonly Released[],
  { reason, by, note }: Release,
): Promise<void> => {
  if (!takesWrites(session)) return
  for (const { id, title, teamId, teamName } of released) {
    const content = { event: 'work_released', item_id: id, title, team: teamName, team_id: teamId, by, reason, note: note ?? null }
    const to = reason === 'taken_back' && teamId !== null ? { to: [teamId] } : {}
    await context.append(session.id, content, { ...to, ...(by === null && { doneBy: null }) })
  }
}

/** Opens what a team holds that leaves, and tells the session. */
export const releaseOnLeaving = async (context: Context, session: Session, teamId: string, teamName: string): Promise<void> =>
  appendReleased(context, session, await releaseClaimsOf(context.queries, session.id, teamId), { reason: 'left', by: teamName })
