// A table in settings written as TOML: added at the end as lines of its own, and taken out again.
import { parse } from 'smol-toml'
import { isDeepStrictEqual } from 'node:util'
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

export const tomlAt = (value: Table | undefined, path: string[]): unknown =>
  path.reduce<unknown>((inner, key) => (inner as Table | undefined)?.[key], value)

export const hasToml = (text: string, entries: TomlEntry[]): boolean => {
  const value = tomlValue(text)
  return value !== undefined && entries.every((entry) => isDeepStrictEqual(plain(tomlAt(value, entry.path)), entry.value))
}

/** The insertion that adds the tables; undefined where the text could then not be read, or would say something else. */
export const addToml = (text: string, entries: TomlEntry[]): Insertion[] | undefined => {
  const eol = lineEndOf(text)
  const gap = text === '' ? '' : text.endsWith('\n') ? eol : eol + eol
  const added = gap + entries.map(({ lines }) => lines.join(eol)).join(eol + eol) + eol
  return hasToml(text + added, entries) ? [{ at: text.length, text: added }] : undefined
}

/** The text without the tables. One that was edited is taken out from its heading up to the next. */
export const removeToml = (text: string, entries: TomlEntry[], made: Insertion[]): string => {
  const cut = takeOutAll(text, made)
  if (cut !== undefined && tomlValue(cut)) return cut
  return entries.reduce(withoutTable, text)
}

const withoutTable = (text: string, { lines }: TomlEntry): string => {
  const heading = lines[0]!
  const all = text.split(/(?<=\n)/)
  const from = all.findIndex((line) => line.trim() === heading)
  if (from < 0) return text
  const below = heading.replace(/\]+$/, '.')
  const next = all.findIndex((line, n) => n > from && /^\s*\[/.test(line) && !line.trim().startsWith(below))
  const left = [...all.slice(0, from), ...(next < 0 ? [] : all.slice(next))].join('')
  return tomlValue(left) ? left : text
}

// A parser's tables have no prototype.
const plain = (value: unknown): unknown => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)))
