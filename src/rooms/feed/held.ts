// Waits and peeks that are held: how many at the same time, in all and of one address, and for as long as their team is there.
import { refuse, unauthorized } from '../../core/errors.ts'
import type { Call } from '../../operations/call.ts'
import type { Services } from '../../process/services.ts'
import type { Event } from '../../stores/events.ts'
import type { Member } from '../../stores/members.ts'

/** Counts one more wait or peek as held, until the returned function is called, which is done once. 503 past MAX_WAITS, 429 past
 *  MAX_WAITS_PER_ADDRESS. */
export const hold = (services: Services, kind: 'waits' | 'peeks', { address = UNKNOWN }: Pick<Call, 'address'>): (() => void) => {
  const { waits, peeks, waitsOfAddress, config } = services
  if (waits.held + peeks.held >= config.MAX_WAITS)
    refuse('unavailable', 'This server has reached its limit of held waits (MAX_WAITS). Try again in a few seconds.', { retry_after: 3 })
  const giveBack = waitsOfAddress.take(address) ?? refuseAddress(waitsOfAddress.most)
  services[kind].held++
  return () => {
    services[kind].held--
    giveBack()
  }
}

const refuseAddress = (most: number) =>
  refuse(
    'rate_limited',
    `Your address holds ${most} waits already, in all sessions together; this server lets one hold no more (MAX_WAITS_PER_ADDRESS). End one, or try again in a few seconds.`,
    { retry_after: 3 },
  )

/** Ends what a team holds that has left meanwhile: its team_id has ended. */
export const refuseIfLeft = (events: Event[], { teamId }: Member): void => {
  if (events.some(({ event, team_id }) => event === 'team_left' && team_id === teamId)) unauthorized()
}

const UNKNOWN = () => 'unknown'
