// Who may call an operation: one record for each kind of caller, with the one way to find out who it is. A wing adds kinds of its own by
// declaring them in `Callers` (TypeScript's module augmentation) and naming them in its operations.
import { z } from 'zod'
import { parseToken } from '../core/ids.ts'
import type { Queries } from '../../db/database.ts'
import type { Services } from '../process/services.ts'
import type { Author } from '../stores/documents.ts'
import { isGoodKey, type Key } from '../stores/keys.ts'
import type { Member } from '../stores/members.ts'
import { isSignedIn } from '../stores/sign-ins.ts'
import type { Call } from './call.ts'

/** What is known of a caller, by its kind. */
export interface Callers {
  anyone: object
  /** `keyId`: of the key by whose seat it speaks; undefined where a team_id proves it. */
  team: { member: Member; keyId?: string }
  person: { name: string; verified: boolean; signInId: string }
  key: { key: Key }
  invite: object
}

/** `id`: who it is among all callers of all kinds; idempotency keys are kept by it. `ended`: its credential was good and is over, so that
 *  it may only be given again what it was given before. */
export type CallerOf<Kind extends keyof Callers> = { kind: Kind; id: string; ended?: boolean } & Callers[Kind]
export type Caller = { [Kind in keyof Callers]: CallerOf<Kind> }[keyof Callers]

/** A credential as it came, before anybody believes it. `secret`: the part of it that no text may contain. */
export interface Credential {
  text: string
  secret?: string | undefined
}

/** A call whose shape is right and whose caller is not known yet. */
export interface Attempt {
  operation: { effect: 'read' | 'write' | 'append'; held?: boolean }
  services: Services
  call: Call
  input: Record<string, any>
}

export interface CallerKind<Kind extends keyof Callers = keyof Callers> {
  kind: Kind
  /** Arguments by which a call may bring the credential, for clients that cannot set a header. They are no part of the input. */
  carries?: z.ZodRawShape
  /** The credential of this kind that the call brings, good or not; undefined when there is none. */
  credentialIn(call: Call, raw: Record<string, unknown>): Credential | undefined
  /** Who the credential proves; undefined (answered as 401) when it proves nobody. */
  resolve(credential: Credential, attempt: Attempt): Promise<CallerOf<Kind> | undefined>
  /** Asked in a write's transaction, once its subject is locked: is this caller still what it was when it was looked up? */
  isCurrent?(tx: Queries, caller: CallerOf<Kind>, input: Record<string, any>): Promise<boolean>
}

/** An operation lists many kinds, and asks each only about callers of its own. */
export type AnyCallerKind = CallerKind<any>

/** No credential is asked for. */
export const anyone: CallerKind<'anyone'> = {
  kind: 'anyone',
  credentialIn: () => ({ text: '' }),
  resolve: async () => ({ kind: 'anyone', id: '' }),
}

/** A person who signed in on the page. */
export const person: CallerKind<'person'> = {
  kind: 'person',
  credentialIn(call) {
    const person = call.person?.()
    return person && { text: person.id }
  },
  async resolve(_, { call }) {
    const { id: signInId, name, verified } = call.person!()! // the door has checked the cookie
    return { kind: 'person', id: `person:${name}`, name, verified, signInId }
  },
  isCurrent: (tx, { signInId }) => isSignedIn(tx, signInId),
}

/** A program with a key. Which operations its scope opens is decided before (core/key-scopes.ts). */
export const key: CallerKind<'key'> = {
  kind: 'key',
  credentialIn: ({ key }) => key && { text: key.id },
  resolve: async (_, { call }) => ({ kind: 'key', id: `key:${call.key!.id}`, key: call.key! }), // the door has checked it
  isCurrent: (tx, { key }) => isGoodKey(tx, key.id),
}

/** An invitation, which a call that joins may bring. It says nothing about who calls. */
export const invite: CallerKind<'invite'> = {
  kind: 'invite',
  carries: {
    invite: z.string().max(200).optional().describe('The code of your invitation, if you have one and cannot send the X-Invite header.'),
  },
  credentialIn: () => undefined,
  resolve: async () => undefined,
}

/** The caller as the author that the log and the document's history name. */
export const authorOf = (caller: Caller): Author => {
  if (caller.kind === 'team') return { teamId: caller.member.teamId, name: caller.member.teamName }
  if (caller.kind === 'person') return { teamId: undefined, name: caller.name }
  if (caller.kind === 'key') return { teamId: undefined, name: caller.key.name }
  throw new Error(`a caller of the kind ${caller.kind} is named nowhere`)
}

/** The team of the session whose credential this team_id is, also one that has left: for whoever asks where no operation has
 *  found out its caller. */
export const memberBy = async (services: Services, sessionId: string, teamId = ''): Promise<Member | undefined> => {
  const token = parseToken(teamId)
  return token && services.memberOf(sessionId, token)
}
