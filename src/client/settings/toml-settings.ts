// A table in settings written as TOML: added at the end as lines of its own, and taken out again.
import { parse } from 'smol-toml'
import { isDeepStrictEqual } from 'node:util'
import { isObject } from '../../core/text/json.ts'
import { lineEndOf, takeOutAll, type Insertion } from './insertion.ts'

export interface TomlEntry {
  /** The names of the table, from the outside in. */
  path: string[]
  value: Record<string, unknown>
  /** The table as lines. */
  lines: string[]
}

type Table = Record<string, unknown>

/** The value of a text; undefined where it is no TOML. */
export const tomlValue = (text: string): Table | undefined => {
  try {
    return parse(text.replace(/^\uFEFF/, '')) as Table
  } catch {
    return undefined
  }
}

const tomlAt = (value: Table | undefined, path: string[]): unknown =>
  path.reduce<unknown>((inner, key) => (inner as Table | undefined)?.[key], value)

/** Whether the tables are there and say what they should. What else is in them is the person's or the client's: Codex keeps approvals there. */
export const hasToml = (text: string, entries: TomlEntry[]): boolean => {
  const value = tomlValue(text)
  return value !== undefined && entries.every(({ path, value: wanted }) => says(tomlAt(value, path), wanted))
}

/** The insertion that adds the tables; undefined where the text could then not be read, or would say something else. */
export const addToml = (text: string, entries: TomlEntry[]): Insertion[] | undefined => {
  const eol = lineEndOf(text)
  const gap = text === '' ? '' : text.endsWith('\n') ? eol : eol + eol
  const added = gap + entries.map(({ lines }) => lines.join(eol)).join(eol + eol) + eol
  return hasToml(text + added, entries) ? [{ at: text.length, text: added }] : undefined
}

/** The text without the tables, and without those below them; undefined where it could not be had without a change to something else. */
export const removeToml = (text: string, entries: TomlEntry[], made: Insertion[]): string | undefined => {
  const cut = takeOutAll(text, made)
  if (cut !== undefined && isRestOf(text, cut, entries)) return cut
  const removed = entries.reduce(withoutTables, text)
  return isRestOf(text, removed, entries) ? removed : undefined
}

// Whether `left` says what the text says, but for the tables. A line of a person's behind ours may have fallen to the table before it.
const isRestOf = (text: string, left: string, entries: TomlEntry[]): boolean => {
  const [before, after] = [tomlValue(text), tomlValue(left)]
  if (!before || !after || entries.some(({ path }) => tomlAt(after, path) !== undefined)) return false
  const rest = (value: Table) => entries.reduce((inner, { path }) => without(inner, path), value)
  return isDeepStrictEqual(plain(rest(before)), plain(rest(after)))
}

const without = (value: Table, [name, ...names]: string[]): Table => {
  const { [name!]: found, ...others } = value
  const left = names.length > 0 && isObject(found) ? without(found, names) : {}
  return Object.keys(left).length > 0 ? { ...others, [name!]: left } : others
}

// Wherever they stand, and however their headings are written. Comments behind them may be about what comes next, and stay.
const withoutTables = (text: string, { path }: TomlEntry): string => {
  const [before, ...tables] = tablesOf(text)
  const left = tables.map((table) => {
    const names = namesIn(tomlValue(table.split('\n', 1)[0]!.trim())) // a line may end in \r\n
    return path.every((name, n) => names[n] === name) ? commentsBehind(table) : table
  })
  return [before, ...left].join('')
}

// The text cut before each heading. A line like one is none within a text or list of several lines, where what stands before cannot be read.
const tablesOf = (text: string): string[] => {
  const tables = ['']
  for (const line of text.split(/(?<=\n)/))
    if (/^\s*\[/.test(line) && tomlValue(tables.join(''))) tables.push(line)
    else tables.push(tables.pop() + line)
  return tables
}

// The names in a heading, which is read as a table in a table.
const namesIn = (value: unknown): string[] =>
  Object.entries(value ?? {})
    .slice(0, 1)
    .flatMap(([name, inner]) => [name, ...namesIn(inner)])

const commentsBehind = (table: string): string => {
  const lines = table.split(/(?<=\n)/)
  const last = lines.findLastIndex((line) => !/^\s*(#|$)/.test(line))
  return lines
    .slice(last + 1)
    .join('')
    .trimStart()
}

// A server that is not `enabled` is one that Codex does not start, whatever else stands there.
const says = (found: unknown, wanted: Table): boolean =>
  isObject(found) &&
  found.enabled !== false &&
  Object.entries(wanted).every(([name, value]) => isDeepStrictEqual(plain(found[name]), value))

// A parser's tables have no prototype.
const plain = (value: unknown): unknown => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)))
