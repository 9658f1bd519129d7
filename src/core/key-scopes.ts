// Keys of programs (`ca_<scope>_<32 hex>`): what they look like, and what each scope opens.
import { redacted } from './text.ts'

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

/** Why a key does not open a call, and what would. */
export const notOpened = (scope: KeyScope): string =>
  `Insufficient permissions. A key of the scope ${scope} opens ${FOR[scope]}, and not this call. Use a key of the scope full, or none where none is needed.`
