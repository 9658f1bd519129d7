// What a CLI may not see, and what may not reach the log.
import { holdsSecret } from '../../core/text/text.ts'
import { storable } from '../../transcripts/storable.ts'

const SAYS_SECRET = /KEY|TOKEN|SECRET|PASSWORD|^AUTHORIZATION$/i
const SCHEME = /^\S+ +(?=\S+$)/ // as in `Bearer …`: what follows it is as secret alone
const SHORTEST = 12 // a shorter value may be a word that stands in any text

export type Environment = Readonly<Record<string, string | undefined>>

/** The environment of a CLI: the runner's own, without our keys and our variables. */
export const cliEnvironment = (env: Environment): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && !/^PARLEY_/i.test(entry[0]) && !holdsSecret(entry[1]),
    ),
  )

/** Texts that no log may hold, each with the name that stands in its place. */
export type Secrets = ReadonlyMap<string, string>

/** The values whose names say that they are secret: of an environment, and of settings however deep. */
export const secretsIn = (value: unknown, name = '', found = new Map<string, string>()): Map<string, string> => {
  if (typeof value === 'string' && SAYS_SECRET.test(name))
    for (const secret of [value, value.replace(SCHEME, '')]) if (secret.length >= SHORTEST) found.set(secret, name)
  if (typeof value === 'object' && value !== null) for (const [key, inner] of Object.entries(value)) secretsIn(inner, key, found)
  return found
}

/** Copies a JSON value without these texts, without credentials of ours, and with nothing that the log cannot hold. */
export type Redact = <Value>(value: Value) => Value

export const redactorOf = (secrets: Secrets): Redact => {
  const spelt = spellings(secrets)
  return (value) => storable(cut(value, spelt) as typeof value)
}

// Longest first: one secret may be part of another. Within a text that is itself JSON, quotes and line ends are spelt otherwise.
const spellings = (secrets: Secrets): [string, string][] =>
  [...secrets]
    .flatMap(([text, name]): [string, string][] => [...new Set([text, JSON.stringify(text).slice(1, -1)])].map((spelt) => [spelt, name]))
    .toSorted(([a], [b]) => b.length - a.length)

const cut = (value: unknown, secrets: [string, string][]): unknown => {
  if (typeof value === 'string') return secrets.reduce((text, [secret, name]) => text.replaceAll(secret, () => `[${name}]`), value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => cut(item, secrets))
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [cut(key, secrets) as string, cut(inner, secrets)]))
}
