// How far teams have read: up to where waits have handed them the feed (delivered), and up to where they said so themselves (acknowledged).
import type { Services } from '../../process/services.ts'
import type { Event } from '../../stores/events.ts'
import { roster, type RosterRow } from '../../stores/members.ts'

export interface Receipt {
  teamId: string
  delivered: number // sequence up to which all events were delivered
  addressed: number // sequence up to which those with the team in `to` were delivered
  acknowledged: number // sequence
}

/** The receipts of all teams of a session. */
export const receiptsOf = async (services: Services, sessionId: string): Promise<Receipt[]> =>
  (await roster(services.database, sessionId)).map((row) => receiptOf(services, row))

/** A team's receipt: from its row, and from what this process has delivered since presence was last written. */
export const receiptOf = (
  { presence }: Pick<Services, 'presence'>,
  { teamId, deliveredCursor, addressedCursor, acknowledgedCursor }: RosterRow,
): Receipt => {
  const seen = presence.of(teamId)
  return {
    teamId,
    delivered: Math.max(deliveredCursor, seen?.deliveredCursor ?? 0),
    addressed: Math.max(addressedCursor, seen?.addressedCursor ?? 0),
    acknowledged: acknowledgedCursor,
  }
}

/** The teams that have acknowledged an event and, if it has `to`, those of them that it was delivered to. */
export const receivedBy = (event: Event, receipts: readonly Receipt[]): { acknowledged_by: string[]; delivered_to?: string[] } => {
  const to = event.to as string[] | undefined
  const acknowledged_by = receipts.filter(({ acknowledged }) => acknowledged >= event.sequence).map(({ teamId }) => teamId)
  const handed = ({ delivered, addressed }: Receipt) => Math.max(delivered, addressed) >= event.sequence
  return {
    acknowledged_by,
    ...(to && { delivered_to: receipts.filter((receipt) => to.includes(receipt.teamId) && handed(receipt)).map(({ teamId }) => teamId) }),
  }
}
