// Turns events of a transcript's reader into events of a running task.
import { storable } from '../../../transcripts/storable.ts'
import { runtime, type TraceEvent } from '../../../transcripts/trace-event.ts'
import type { Listener } from './driver.ts'

/** Tells the events of one record. What an import keeps beside the agent's work is told as the program's own word; the prompt is in the log
 *  already. `key` is the record's; each event of it has its own. */
export const report = (listener: Listener, key: string, events: TraceEvent[]): void => {
  events.forEach((event, i) => {
    if (event.type !== 'user_input' && event.type !== 'chat') listener.event(keyOf(key, i), storable(asTrace(event)))
  })
}

/** The key of a record's event. */
export const keyOf = (record: string, i: number) => (i === 0 ? record : `${record}.${i}`)

const asTrace = (event: TraceEvent): TraceEvent => {
  if (event.type !== 'system') return event
  const { event: name, ...content } = event.content
  return { ...event, ...runtime(String(name), content) }
}

/** What a CLI printed beside its protocol. */
export const printed = (line: string): TraceEvent => runtime('output', { text: line })
