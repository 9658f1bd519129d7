// What an event says, as text: for search, for summaries, and beside a structured payload. Content has `text` where there is any;
// a tool call has `arguments`, a tool response may have `exit_code`, a system event has `event` and its own fields.
export type Content = Record<string, unknown>

export const textOf = (kind: string, content: Content, toolName: string | null): string => {
  if (typeof content.text === 'string') return content.text
  if (kind === 'tool_call') return callText(toolName, content.arguments)
  if (kind === 'system') return systemText(content)
  return Object.keys(content).length === 0 ? '' : JSON.stringify(content)
}

const callText = (name: string | null, given: unknown) => {
  const named = typeof given === 'object' && given !== null && !Array.isArray(given)
  const list = named
    ? Object.entries(given).map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    : given === undefined
      ? []
      : [JSON.stringify(given)]
  return `${name ?? 'tool'}(${list.join(', ')})`
}

const systemText = ({ event, ...rest }: Content) => {
  const said = Object.entries(rest).map(([key, value]) => `${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
  return [String(event ?? 'system'), ...said].join(', ')
}

const SUMMARY = 240 // characters

export interface Short {
  text: string
  truncated: boolean
}

/** The beginning of a text on one line. `more`: the text given is itself a beginning. */
export const shortened = (text: string, more = false): Short => {
  const line = text
    .slice(0, 4 * SUMMARY)
    .replace(/\s+/g, ' ')
    .trim()
  if (line.length <= SUMMARY && text.length <= 4 * SUMMARY) return { text: line, truncated: more }
  return { text: `${cut(line, SUMMARY)}…`, truncated: true }
}

/** The line around the first place where one of the terms stands. */
export const excerpt = (text: string, terms: string[], more = false): Short => {
  const place = firstPlace(text, terms)
  if (place < SUMMARY / 2) return shortened(text, more)
  const start = wordAt(text, whole(text, place - SUMMARY / 3), place)
  const { text: line, truncated } = shortened(text.slice(start), more)
  return { text: `…${line}`, truncated: truncated || start > 0 }
}

// The rarest term first: where it stands is what was looked for.
const firstPlace = (text: string, terms: string[]) => {
  const lower = text.toLowerCase()
  for (const term of terms) {
    const place = lower.indexOf(term)
    if (place >= 0) return place
  }
  return 0
}

// The next word that begins before `limit`, unless the text has none there.
const wordAt = (text: string, from: number, limit: number) => {
  const blank = text.slice(from, limit).search(/\s/)
  return blank < 0 ? from : from + blank + 1
}

// Never in the middle of a surrogate pair.
const whole = (text: string, at: number) => (/[\uDC00-\uDFFF]/.test(text[at] ?? '') ? at - 1 : at)
const cut = (text: string, at: number) => text.slice(0, whole(text, at))
