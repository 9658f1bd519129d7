import { eventHref } from '../../../components/trace/trace-view.ts'
import { isConversation } from '../../stores/events.ts'

/** Where an event is seen: in the feed of its room, or in its turn where no feed shows it. */
export const placeOf = (
  source: string,
  sessionId: string,
  { type, sequence, turn }: { type: string; sequence: number; turn: number },
): string =>
  source === 'room' && isConversation(type)
    ? `/sessions/${sessionId}?around=${sequence}#m${sequence}`
    : eventHref(sessionId, turn, sequence)
