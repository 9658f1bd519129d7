import type { Context } from '../../operations/context.ts'
import { convenerOnly } from '../../rooms/who-may.ts'
import { seatedMember, seatHolderOf } from '../../stores/control/seats.ts'
import type { Session } from '../../stores/sessions.ts'

/** CONVENER_ONLY holds for keys, too: 403 unless the key convenes the session, or was made to name it. */
export const refuseRenaming = async (context: Context, session: Session): Promise<void> => {
  const { caller, queries } = context
  if (caller.kind === 'key') {
    if (caller.key.scope === 'sess') return
    const seat = await seatedMember(queries, seatHolderOf(caller.key), session.id)
    if (seat && seat.teamId === session.convenerTeamId) return
  }
  convenerOnly(context, session, 'metadata')
}
