// Work that is open again because its claim has ended.
import type { Untold } from '../../../db/records-schema.ts'
import type { Context } from '../../operations/context.ts'
import { setItem } from '../../stores/records/items.ts'
import { releaseClaimsOf, takeUntold, type Released } from '../../stores/records/leases.ts'
import { takesWrites, type Session } from '../../stores/sessions.ts'

export interface Release {
  reason: Untold['reason']
  /** Who did it; nobody when a lease ran out. */
  by: string | null
  note?: string | undefined
}

/** Tells the session that these items can be claimed. Nothing is added to a feed that has ended: it is told when it goes on. */
export const appendReleased = async (
  context: Context,
  session: Session,
  released: readonly Released[],
  { reason, by, note }: Release,
): Promise<void> => {
  for (const { id, title, teamId, teamName } of released) {
    if (!takesWrites(session)) {
      await setItem(context.queries, id, { untold: { team_id: teamId, team_name: teamName, reason, by } })
      continue
    }
    const content = { event: 'work_released', item_id: id, title, team: teamName, team_id: teamId, by, reason, note: note ?? null }
    const to = reason === 'taken_back' && teamId !== null ? { to: [teamId] } : {}
    const doneBy = by === null ? { doneBy: null } : reason === 'left' ? { doneBy: teamId } : {}
    await context.append(session.id, content, { ...to, ...doneBy })
  }
}

/** Tells a session that goes on whose claims ended meanwhile. */
export const appendUntold = async (context: Context, session: Session): Promise<void> => {
  if (!takesWrites(session)) return
  for (const { id, title, untold } of await takeUntold(context.queries, session.id)) {
    const { team_id: teamId, team_name: teamName, reason, by } = untold
    await appendReleased(context, session, [{ id, title, teamId, teamName }], { reason, by })
  }
}

/** Opens what a team holds that leaves, and tells the session. */
export const releaseOnLeaving = async (context: Context, session: Session, teamId: string, teamName: string): Promise<void> =>
  appendReleased(context, session, await releaseClaimsOf(context.queries, session.id, teamId), { reason: 'left', by: teamName })
