// What became of what was said: a wait has handed it to a team (delivered), and the team has said so itself (acknowledged).
import type { Services } from '../process/services.ts'
import type { Event } from '../stores/events.ts'
import { roster, type Seat } from '../stores/members.ts'

export interface Receipt {
  teamId: string
  delivered: number // everything up to there
  addressed: number // what names the team in `to`, up to there
  acknowledged: number
}

/** How far each team of a session has come. */
export const receiptsOf = async (services: Services, sessionId: string): Promise<Receipt[]> =>
  (await roster(services.database, sessionId)).map((row) => receiptOf(services, row))

/** How far a team has come, with what this process has handed out since the last write. */
export const receiptOf = (
  { presence }: Pick<Services, 'presence'>,
  { teamId, deliveredCursor, addressedCursor, acknowledgedCursor }: Seat,
): Receipt => {
  const seen = presence.of(teamId)
  return {
    teamId,
    delivered: Math.max(deliveredCursor, seen?.deliveredCursor ?? 0),
    addressed: Math.max(addressedCursor, seen?.addressedCursor ?? 0),
    acknowledged: acknowledgedCursor,
  }
}

/** The teams that acknowledged an event, and of those it names in `to` the ones that were handed it. */
export const receivedBy = (event: Event, receipts: readonly Receipt[]): { acknowledged_by: string[]; delivered_to?: string[] } => {
  const to = event.to as string[] | undefined
  const acknowledged_by = receipts.filter(({ acknowledged }) => acknowledged >= event.sequence).map(({ teamId }) => teamId)
  const handed = ({ delivered, addressed }: Receipt) => Math.max(delivered, addressed) >= event.sequence
  return {
    acknowledged_by,
    ...(to && { delivered_to: receipts.filter((receipt) => to.includes(receipt.teamId) && handed(receipt)).map(({ teamId }) => teamId) }),
  }
}
