// What an event that was found says, as people read it: one line around what was looked for.
import { eventTold } from '../../../components/session/event-words.ts'
import { excerpt } from '../../core/event-text.ts'
import { glance } from '../../markdown/plain-text.ts'
import { MARKDOWN, type Kind } from '../../core/event-types.ts'
import type { Event } from '../../stores/events.ts'
import { telling } from '../trace/events.ts'

const LOOKED_THROUGH = 16 * 1024 // characters of a text: a glance at fifty of these takes some 40 ms

/** `quoted`: the same as the operation quotes it, for agents. */
export const searchLine = (event: Event, kind: Kind, quoted: string, terms: string[]): string => {
  const { arguments: given, text = event.text } = (event.content ?? {}) as Record<string, unknown>
  if (kind === 'tool_call' && text === undefined) return callLine(event, given, terms)
  if (kind === 'system' && text === undefined) return excerpt(eventTold(event), terms).text
  if (!MARKDOWN.has(kind) && kind !== 'system') return quoted
  const seen = glance(String(text ?? '').slice(0, LOOKED_THROUGH)) // before it becomes one line: a fence is known by its own
  return holds(seen, terms) ? excerpt(seen, terms).text : glance(quoted)
}

// As the trace page tells a call, and the arguments with what was looked for.
const callLine = ({ tool_name }: Event, given: unknown, terms: string[]): string => {
  const main = telling(given)
  const others = Object.values(Object(given) as object).map((value) => (typeof value === 'string' ? value : JSON.stringify(value)))
  const found = holds(main, terms) ? [] : others.filter((value) => value !== main && holds(value, terms))
  return `${String(tool_name ?? 'tool')}\u2002${excerpt([main, ...found].join(' · '), terms).text}`
}

const holds = (text: string, terms: string[]) => {
  const lower = text.toLowerCase()
  return terms.some((term) => lower.includes(term))
}
