// Keys of programs (`ca_<scope>_<32 hex>`): what they look like, and what each scope opens.
import { redacted } from './text/text.ts'

export const KEY_SCOPES = ['full', 'agent', 'read', 'sess', 'run'] as const
export type KeyScope = (typeof KEY_SCOPES)[number]

/** The scopes that people make; `agent` keys are made by the server, each for one task. */
export const MADE_BY_PEOPLE = ['full', 'read', 'sess', 'run'] as const satisfies readonly KeyScope[]

/** Of a scope whose keys belong to one session. */
export const needsSession = (scope: KeyScope): boolean => scope === 'sess' || scope === 'agent'

const KEY = /^ca_(?:full|agent|read|sess|run)_[0-9a-f]{32}$/
const KEY_WITHIN = /ca_(?:full|agent|read|sess|run)_[0-9a-f]{32}/i

/** Whether a bearer's text is meant as one of our keys: then it must be a good one. */
export const isMeantAsKey = (text: string): boolean => text.startsWith('ca_')
export const isKey = (text: string): boolean => KEY.test(text)
export const holdsKey = (text: string): boolean => KEY_WITHIN.test(text)

/** What of a key may be shown: its scope and the first 8 of its random half. */
export const prefixOf = (key: string): string => redacted(key).replace('…', '')

/** true: all of it. own: of the key's own session alone. false: 403. */
type Opened = boolean | 'own'
type Row = Record<KeyScope, Opened>

const READERS: Row = { full: true, agent: 'own', read: true, sess: false, run: false }
const ACTORS: Row = { full: true, agent: 'own', read: false, sess: false, run: false }
const NOBODY: Row = { full: false, agent: false, read: false, sess: false, run: false }

/** What each scope opens: rows of calls, columns of scopes. All that asks what a key may asks this table, and its tests go through it. */
export const OPENS = {
  everything: { ...READERS, agent: false }, // what shows all sessions: history, pages, metrics
  session: READERS, // what shows one: its page, stream, handoff and exports
  room_read: { ...READERS, agent: true }, // the tools of rooms, with a team_id where they need one
  room_write: { ...ACTORS, agent: true },
  imports: { ...ACTORS, agent: false },
  invitations: { ...ACTORS, agent: false },
  'control.list_sessions': READERS,
  'control.get_session': READERS,
  'control.get_messages': READERS,
  'control.get_message': READERS,
  'control.list_worktrees': READERS,
  'control.list_tasks': READERS,
  'control.get_task': READERS,
  'control.create_session': ACTORS,
  'control.send_prompt': ACTORS,
  'control.update_session': ACTORS,
  'control.interrupt_session': ACTORS,
  'control.manage_session': ACTORS,
  'control.answer_permission': NOBODY, // people alone
  'control.set_session_name': { ...NOBODY, sess: 'own' },
  runner: { ...NOBODY, run: true },
  records_read: READERS,
  records_write: ACTORS, // what of it a key may: src/records/who-may.ts
} as const satisfies Record<string, Row>

export type KeyRow = keyof typeof OPENS

export const opens = (scope: KeyScope, row: KeyRow): Opened => OPENS[row][scope]

const FOR: Record<KeyScope, string> = {
  full: 'what agents and readers may',
  agent: 'the session of its own task',
  read: 'reading',
  sess: 'the name of its own session',
  run: 'the calls of a runner',
}

/** The scopes that people make and that open this. */
const scopesFor = (row: KeyRow) => MADE_BY_PEOPLE.filter((scope) => opens(scope, row) !== false)

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
  if (row === 'control.set_session_name') return `It takes ${wanted(row)}; update_session names a session with one of the scope full.`
  if (row === 'room_read' || row === 'room_write')
    return `Leave this key out, and send your team_id where one is needed. If this server asks for its access token, send that in the key's place, or ${wanted(row)}.`
  if (row === 'records_read' || row === 'records_write') return `Send the team_id of a team of the session in its place, or ${wanted(row)}.`
  const open = row === 'everything' || row === 'session' ? ', or none where the pages are open' : ''
  return `It takes ${wanted(row)}${open}. ${scope === 'agent' ? 'Ask your person.' : howToGet(row)}`
}
