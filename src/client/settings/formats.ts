// The two formats of settings, by the same functions.
import { Stop } from '../machine.ts'
import type { Insertion } from './insertion.ts'
import { addJson, hasJson, jsonValue, removeJson, type JsonEntry } from './json-settings.ts'
import { addToml, hasToml, removeToml, tomlValue, type TomlEntry } from './toml-settings.ts'

/** What a client's settings are to have. */
export type Wanted = { format: 'json'; entries: JsonEntry[] } | { format: 'toml'; entries: TomlEntry[] }

/** What the settings say; undefined where they cannot be read. */
export const valueOf = ({ format }: Wanted, text: string): Record<string, unknown> | undefined =>
  format === 'json' ? jsonValue(text) : tomlValue(text)

/** Settings that say nothing, for a client that finds the file there. */
export const emptyOf = ({ format }: Wanted): string => (format === 'json' ? '{}\n' : '')

export const has = (wanted: Wanted, text: string): boolean =>
  wanted.format === 'json' ? hasJson(text, wanted.entries) : hasToml(text, wanted.entries)

/** The insertions that make them so, one after the other; undefined where something else is in the way. */
export const add = (wanted: Wanted, text: string): Insertion[] | undefined =>
  wanted.format === 'json' ? addJson(text, wanted.entries) : addToml(text, wanted.entries)

/** The text without what was inserted; where that was edited since, without the entries; undefined where these stand in another way. */
export const remove = (wanted: Wanted, text: string, made: Insertion[]): string | undefined =>
  wanted.format === 'json' ? removeJson(text, wanted.entries, made) : removeToml(text, wanted.entries, made)

// The entries as a person would paste them.
const snippet = (wanted: Wanted): string =>
  wanted.format === 'toml'
    ? wanted.entries.map(({ lines }) => lines.join('\n')).join('\n\n')
    : JSON.stringify(merged(wanted.entries), null, 2)

/** A text to show without the access tokens in it, of whichever server and from whichever time. */
export const withoutTokens = (text: string): string => text.replaceAll(/(["'])Bearer (?:\\.|(?!\1).)+/gi, '$1Bearer …')

/** Ends the program: the person is to do by hand what it cannot. Only who adds a server needs its token for that. */
export const notUnderstood = (change: Wanted & { path: string }, verb: 'Add' | 'Take out' = 'Add') => {
  const lines = verb === 'Add' ? snippet(change) : withoutTokens(snippet(change))
  return new Stop(`${change.path} is not as this program knows it, and was left alone. ${verb} this by hand:\n\n${lines}`)
}

const merged = (entries: JsonEntry[]): object => {
  const whole: Record<string, any> = {}
  for (const { path, as, value } of entries) {
    const holder = path.slice(0, -1).reduce((inner, key) => (inner[key] ??= {}), whole)
    holder[path.at(-1)!] = as === 'element' ? [...(holder[path.at(-1)!] ?? []), value] : value
  }
  return whole
}
