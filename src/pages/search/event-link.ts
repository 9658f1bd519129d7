import { eventHref } from '../../../components/trace/trace-view.ts'
import { isConversation } from '../../stores/events.ts'

/** The page that shows an event: its room's feed, or its turn where no feed shows it. */
export const eventLink = (
  source: string,
  sessionId: string,
  { type, sequence, turn }: { type: string; sequence: number; turn: number },
): string =>
  source === 'room' && isConversation(type)
    ? `/sessions/${sessionId}?around=${sequence}#m${sequence}`
    : eventHref(sessionId, turn, sequence)
