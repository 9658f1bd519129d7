// Who calls records: a team by its team_id, which names its session; a person; a key; a reader by cookie. And as whom records name them.
import { parseToken } from '../core/ids.ts'
import { ACTORS, READERS, type KeyRow } from '../core/key-scopes.ts'
import { sessionOfTeam } from '../stores/members.ts'
import { personOf, type Person } from '../stores/records/persons.ts'
import { key, person, type CallerKind } from '../operations/callers.ts'
import type { Context } from '../operations/context.ts'
import { team } from '../rooms/team-caller.ts'

declare module '../operations/callers.ts' {
  interface Callers {
    reader: object
  }
}

/** A team by its team_id, or by a seat of its agent's key, in the session that it belongs to: the call need not name that. In another
 *  session (`session_id`, `meeting_id`) it proves nothing: 401, but for reads where pages are open. */
const memberTeam: CallerKind<'team'> = {
  ...team,
  credentialIn: (call, raw) =>
    call.key?.scope === 'full' && raw.team_id === undefined && call.token === undefined ? undefined : team.credentialIn(call, raw),
  async resolve(credential, attempt) {
    const { services, call, operation } = attempt
    const token = parseToken(credential.text)
    const asked = attempt.input.session_id ?? attempt.input.meeting_id
    if (!token && asked !== undefined) {
      const seated = await team.resolve(credential, { ...attempt, input: { ...attempt.input, session_id: asked } })
      if (seated) return seated
    }
    const session = token ? await sessionOfTeam(services.database, token.handle) : call.key?.sessionId
    if (!session) return undefined
    const named = asked ?? session
    const elsewhere = operation.effect === 'read' && call.mayRead?.() === true
    if (named !== session && !elsewhere) return undefined
    return team.resolve(credential, { ...attempt, input: { ...attempt.input, session_id: session } })
  },
}

/** A browser that the viewer's password signed in: it reads. */
export const reader: CallerKind<'reader'> = {
  kind: 'reader',
  credentialIn: (call) => (call.isReader?.() ? { text: '' } : undefined),
  resolve: async () => ({ kind: 'reader', id: 'reader' }),
}

/** The operations take every kind of caller: what one may not do, the table (who-may.ts) refuses, and says why. */
export const CALLERS = [memberTeam, person, key, reader] as const

const orTeam = {
  instead: (wanted: string) => `Send the team_id of a team of the session in its place, or ${wanted}.`,
}
/** What keys open of records and boards: what of it a key may, the table says too. */
export const RECORD_READERS: KeyRow = { ...READERS, ...orTeam }
export const RECORD_ACTORS: KeyRow = { ...ACTORS, ...orTeam }

/** The caller as records name it. */
export const named = ({ caller }: Context): Person => {
  if (caller.kind === 'team') return personOf('team', caller.member.teamName, caller.member.verified)
  if (caller.kind === 'person') return personOf('person', caller.name, caller.verified)
  if (caller.kind === 'key') return personOf('key', caller.key.name, true)
  throw new Error('readers are named nowhere')
}

/** The handle of the team that calls. */
export const handleOf = ({ caller }: Context): string | undefined => (caller.kind === 'team' ? caller.member.teamId : undefined)
