// An event that a search found, as people read it: one line around the terms that were searched for.
import { eventWithDetails, type EventKinds } from '../../core/events/event-kinds.ts'
import { excerpt } from '../../core/events/event-text.ts'
import { mainArgument } from '../../core/events/tool-call.ts'
import { toPlainText } from '../../markdown/plain-text.ts'
import { MARKDOWN, type EventType } from '../../core/events/event-types.ts'
import type { Event } from '../../stores/events.ts'
import { asText } from '../../core/text/as-text.ts'
import { firstFound, type Found } from '../../core/text/word-places.ts'

const SCANNED = 16 * 1024 // characters of a text that are searched for a place to quote: fifty such texts take some 40 ms

/** `quoted`: the line with which the operation quotes the event to agents. */
export const searchLine = (event: Event, type: EventType, quoted: string, terms: string[], kinds: EventKinds): string => {
  const { arguments: given, text = event.text } = (event.content ?? {}) as Record<string, unknown>
  if (type === 'tool_call' && text === undefined) return foundCallLine(event, given, terms)
  if (type === 'system' && text === undefined) return excerpt(eventWithDetails(kinds, event), terms).text
  if (!MARKDOWN.has(type) && type !== 'system') return quoted
  const plain = toPlainText(asText(text).slice(0, SCANNED)) // before the text becomes one line: a code fence is recognised by the line that it has to itself
  return has(plain, firstFound(quoted, terms)) ? excerpt(plain, terms).text : toPlainText(quoted)
}

// A call as the trace page shows it, and the arguments in which the rarest of the terms stands.
const foundCallLine = ({ tool_name }: Event, given: unknown, terms: string[]): string => {
  const main = mainArgument(given)
  const others = Object.values(Object(given) as object).map((value) => (typeof value === 'string' ? value : JSON.stringify(value)))
  const rarest = firstFound([main, ...others].join('\n'), terms)
  const found = has(main, rarest) ? [] : others.filter((value) => value !== main && has(value, rarest))
  return `${String(tool_name ?? 'tool')}\u2002${excerpt([main, ...found].join(' · '), terms).text}`
}

const has = (text: string, sought: Found | undefined): boolean => {
  const here = sought && firstFound(text, [sought.term])
  return here !== undefined && (here.word || !sought!.word)
}
