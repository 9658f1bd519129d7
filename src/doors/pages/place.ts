import { eventHref } from '../../../components/trace-view.ts'

const IN_THE_FEED = new Set(['chat', 'system', 'user_input'])

/** Where an event is seen: in the feed of its room, or in its turn where no feed shows it. */
export const placeOf = (
  source: string,
  sessionId: string,
  { type, sequence, turn }: { type: string; sequence: number; turn: number },
): string =>
  source === 'room' && IN_THE_FEED.has(type)
    ? `/sessions/${sessionId}?around=${sequence}#m${sequence}`
    : eventHref(sessionId, turn, sequence)
