// System events as data: one record for each kind, from which the feed, the trace, searches, exports and the guide for agents take its words, its
// icon and its fields. A toolset brings the kinds that its operations write.
import { asText } from '../text/as-text.ts'

/** A system event, or what is stored of one: `event` names its kind, its own fields lie beside that. */
export type SystemEvent = Readonly<Record<string, unknown>>

export interface EventKind {
  /** The value of `event`. */
  name: string
  /** Each field of its own, in the order in which answers have them, and what it says. */
  fields: Readonly<Record<string, string>>
  /** For agents: when such an event comes, in half a sentence. */
  summary: string
  /** Of the shapes in components/parts/icon.tsx. */
  icon: string
  /** Stands out from the other events of a feed. */
  highlighted?: boolean
  /** The field that names who did it; `by`, else `team` unless said. */
  subject?: 'by' | 'team'
  /** What happened, to stand after the name of who did it. */
  words(event: SystemEvent): string
  /** The words say why as well: the event's `reason` is a name for programs. */
  saysWhy?: boolean
  /** The page on which a reader sees what the event is about. */
  link?(event: SystemEvent, sessionId: string): string | undefined
}

export type EventKinds = ReadonlyMap<string, EventKind>

/** The kinds of all these toolsets. A name that two of them use stops the start. */
export const eventKindsOf = (toolsets: readonly { eventKinds?: readonly EventKind[] }[]): EventKinds => {
  const kinds = new Map<string, EventKind>()
  for (const kind of toolsets.flatMap(({ eventKinds = [] }) => eventKinds)) {
    if (kinds.has(kind.name)) throw new Error(`two toolsets have events of the kind ${kind.name}`)
    kinds.set(kind.name, kind)
  }
  return kinds
}

/** An event's kind. One that nobody has declared is shown with a plain icon, and says its name. */
export const kindOf = (kinds: EventKinds, { event }: SystemEvent): EventKind => kinds.get(asText(event)) ?? unknownKind(asText(event))

const unknownKind = (name: string): EventKind => ({
  name,
  fields: {},
  summary: '',
  icon: 'dot',
  words: () => name.replaceAll('_', ' '),
})

/** The name of who did it. */
export const subjectOf = (kinds: EventKinds, event: SystemEvent): string | undefined => {
  const { subject = 'by' } = kindOf(kinds, event)
  const name = event[subject] ?? event.by ?? event.team
  return name === undefined || name === null ? undefined : asText(name)
}

/** What happened, to stand after the name of who did it. */
export const wordsOf = (kinds: EventKinds, event: SystemEvent): string => {
  const kind = kindOf(kinds, event)
  return ifOurs(() => kind.words(event)) ?? unknownKind(kind.name).words(event)
}

/** The page on which a reader sees what the event is about. */
export const linkOf = (kinds: EventKinds, event: SystemEvent, sessionId: string): string | undefined =>
  ifOurs(() => kindOf(kinds, event).link?.(event, sessionId))

// An event of a transcript may have the name of a kind, and anything in its fields.
const ifOurs = <Value>(work: () => Value): Value | undefined => {
  try {
    return work()
  } catch {
    return undefined
  }
}

/** Who did what, in one line of plain text. */
export const eventLine = (kinds: EventKinds, event: SystemEvent): string =>
  `${subjectOf(kinds, event) ?? 'Somebody'} ${wordsOf(kinds, event)}`

/** The text with which somebody gave a reason; empty where there is none. */
export const reasonOf = (kinds: EventKinds, event: SystemEvent): string =>
  typeof event.reason === 'string' && !kindOf(kinds, event).saysWhy ? event.reason : ''

/** One field that an event changed. */
export interface Change {
  from: unknown
  to: unknown
}

/** `changes` of an event, field by field; what is no change is left out. */
export const changesOf = ({ changes }: SystemEvent): [field: string, change: Change][] =>
  Object.entries(Object(changes) as Record<string, unknown>).map(([field, change]) => [field, Object(change) as Change])

/** What a session is called since this event; undefined when the event renamed nothing. */
export const newTitle = ({ changes }: SystemEvent): string | undefined => {
  const to = (changes as { title?: { to?: unknown } } | null | undefined)?.title?.to
  return typeof to === 'string' ? to : undefined
}

/** Who did what, from what to what, and why: all of an event in one line of plain text. */
export const eventWithDetails = (kinds: EventKinds, event: SystemEvent): string => {
  const said = changesOf(event).map(
    ([field, { from, to }], i) => `${i > 0 ? `${field} ` : ''}${asText(from) || 'none'} → ${asText(to) || 'none'}`,
  )
  const reason = reasonOf(kinds, event)
  return `${eventLine(kinds, event)}${said.length > 0 ? `: ${said.join(', ')}` : ''}${reason && ` “${reason}”`}`
}

/** jsonb gives an object's fields back by the length of their names, `to` before `from`. In an answer a change reads `{ from, to }`. */
export const fromBeforeTo = <Value>(value: Value): Value => {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(fromBeforeTo) as Value
  const fields = Object.entries(value).map(([name, inner]) => [name, fromBeforeTo(inner)] as const)
  const isChange = 'from' in value && 'to' in value
  return Object.fromEntries(isChange ? fields.toSorted(([a], [b]) => placeOf(a) - placeOf(b)) : fields) as Value
}

const placeOf = (field: string) => (field === 'from' ? 0 : field === 'to' ? 1 : 2)
