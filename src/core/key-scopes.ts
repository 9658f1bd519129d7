// Keys of programs (`ca_<scope>_<32 hex>`): what they look like, and what each scope opens.

export const KEY_SCOPES = ['full', 'agent', 'read', 'sess', 'run'] as const
export type KeyScope = (typeof KEY_SCOPES)[number]

/** The scopes that people make; `agent` keys are made by the server, each for one task. */
export const MADE_BY_PEOPLE = ['full', 'read', 'sess', 'run'] as const satisfies readonly KeyScope[]

/** Of a scope whose keys belong to one session. */
export const needsSession = (scope: KeyScope): boolean => scope === 'sess' || scope === 'agent'

/** A key is its prefix, which may be shown, and the rest. Both for regular expressions. */
export const KEY_PREFIX_SHAPE = `ca_(?:${KEY_SCOPES.join('|')})_[0-9a-f]{8}`
export const KEY_REST_SHAPE = '[0-9a-f]{24}'
const KEY = new RegExp(`^${KEY_PREFIX_SHAPE}${KEY_REST_SHAPE}$`)
const KEY_WITHIN = new RegExp(KEY_PREFIX_SHAPE + KEY_REST_SHAPE, 'i')
const PREFIX = new RegExp(`^${KEY_PREFIX_SHAPE}`)

/** Whether a bearer's text is meant as one of our keys: then it must be a good one. */
export const isMeantAsKey = (text: string): boolean => text.startsWith('ca_')
export const isKey = (text: string): boolean => KEY.test(text)
export const holdsKey = (text: string): boolean => KEY_WITHIN.test(text)

/** What of a key may be shown: its scope and the first 8 of its random half. */
export const prefixOf = (key: string): string => prefixIn(key)!
/** The prefix that a text begins with; undefined for one that begins like no key. */
export const prefixIn = (text: string): string | undefined => PREFIX.exec(text)?.[0]

/** What the keys of each scope open of a call. true: all of it. own: of the key's own session alone, which the operation itself sees to.
 *  false: 403. */
export interface KeyRow extends Readonly<Record<KeyScope, boolean | 'own'>> {
  /** What somebody does whose key does not open it. `wanted`: a key that does; `how`: the way to come by one. */
  instead?(wanted: string, how: string): string
}

/** The rows of most operations: who reads, who acts, and nobody. Others are made of these, beside the operations that they are of. */
export const READERS: KeyRow = { full: true, agent: 'own', read: true, sess: false, run: false }
export const ACTORS: KeyRow = { full: true, agent: 'own', read: false, sess: false, run: false }
export const NOBODY: KeyRow = { full: false, agent: false, read: false, sess: false, run: false }

const orNone = { instead: (wanted: string, how: string) => `It takes ${wanted}, or none where the pages are open. ${how}` }
const besideAnother = {
  agent: true,
  instead: (wanted: string) =>
    `Leave this key out, and send your team_id where one is needed. If this server asks for its access token, send that in the key's place, or ${wanted}.`,
}

/** The rows of what several wings and doors serve. */
export const OPENS = {
  everything: { ...READERS, agent: false, ...orNone }, // what shows all sessions: history, pages, metrics
  session: { ...READERS, ...orNone }, // what shows one: its page, stream, handoff and exports
  imports: { ...ACTORS, agent: false },
  beside_read: { ...READERS, ...besideAnother }, // calls with another credential, beside which a key stands for the access token
  beside_write: { ...ACTORS, ...besideAnother },
} as const satisfies Record<string, KeyRow>

const FOR: Record<KeyScope, string> = {
  full: 'what agents and readers may',
  agent: 'the session of its own task',
  read: 'reading',
  sess: 'the name of its own session',
  run: 'the calls of a runner',
}

/** The scopes that people make and that open this. */
const scopesFor = (row: KeyRow) => MADE_BY_PEOPLE.filter((scope) => row[scope] !== false)

const wanted = (row: KeyRow) => `a key of the scope ${scopesFor(row).join(' or ')}`

/** How one comes by a key that opens this. */
export const howToGet = (row: KeyRow): string => {
  const [scope] = scopesFor(row)
  return `Whoever runs this server makes one: bun run key ${scope} NAME${scope === 'sess' ? ' --session ID' : ''}, or the page /settings/keys.`
}

/** Why a key does not open a call, and what would. `onlyFor`: who may, where no key does it (operations/operation.ts). */
export const notOpened = (scope: KeyScope, row: KeyRow, onlyFor?: string): string =>
  `Insufficient permissions. A key of the scope ${scope} opens ${FOR[scope]}, and not this call. ${onlyFor ?? insteadOf(scope, row)}`

const insteadOf = (scope: KeyScope, row: KeyRow): string => {
  const how = scope === 'agent' ? 'Ask your user.' : howToGet(row)
  return row.instead?.(wanted(row), how) ?? `It takes ${wanted(row)}. ${how}`
}
