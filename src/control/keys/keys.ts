// Making, listing and revoking the keys of programs. A key is shown once, and only its hash is stored.
import { refuse } from '../../core/errors.ts'
import { idWithin, isUuid, newKey, sha256 } from '../../core/ids.ts'
import { MADE_BY_PEOPLE, needsSession, prefixIn, prefixOf, type KeyScope } from '../../core/key-scopes.ts'
import { holdsSecret, LONGEST_NAME, nameIsPlain, redacted } from '../../core/text/text.ts'
import { topicOf, type Topic } from '../../log/topics.ts'
import { KEY_KIND } from '../../process/credentials.ts'
import { NO_SUCH_SESSION } from '../../operations/subject.ts'
import type { Services } from '../../process/services.ts'
import { insertKey, keysWithPrefix, revokeKeys, type KeyRecord } from '../../stores/keys.ts'
import { sessionById } from '../../stores/sessions.ts'

export const keyTopic = (id: string): Topic => topicOf(KEY_KIND, id)

/** What a person says of a new key. `id` may be chosen by the form that makes it: sent twice, it makes one. */
export interface NewKey {
  id?: string
  scope: string
  name: string
  sessionId?: string | undefined
  by: string
}

/** Makes a key for a scope that people make, and returns it: this once. 400 for a bad scope, name or session_id, 404 for an unknown session,
 *  409 for a form that was sent before. */
export const makeKey = async (services: Services, { id, scope: given, name: typed, sessionId, by }: NewKey): Promise<string> => {
  const scope = MADE_BY_PEOPLE.find((one) => one === given) ?? refuseScope(given)
  const name = typed.trim()
  if (!nameIsPlain(name) || [...name].length > LONGEST_NAME)
    refuse('invalid_request', `A key needs a name of 1 to ${LONGEST_NAME} visible characters, by which you know it later.`, {
      field: 'name',
    })
  if (holdsSecret(name)) refuse('secret_in_text', 'The name contains a token or key. Give it another name.', { field: 'name' })
  const session = await sessionOf(services, scope, sessionId)
  const key = newKey(scope)
  const row = { id: id ?? crypto.randomUUID(), keyHash: sha256(key), prefix: prefixOf(key), scope, name, sessionId: session, madeBy: by }
  if (!(await insertKey(services.database, row)))
    refuse('conflict', 'This form was already sent, and its key was shown then. If you do not have it, revoke it below and make another.')
  return key
}

const refuseScope = (given: string): never => {
  const scopes = MADE_BY_PEOPLE.join(', ')
  if (given === 'agent')
    return refuse('invalid_request', `Keys of the scope agent are made by the server, one for each task. Choose ${scopes}.`, {
      field: 'scope',
    })
  return refuse('invalid_request', `A key has one of the scopes ${scopes}, not ${JSON.stringify(redacted(given.slice(0, 40)))}.`, {
    field: 'scope',
  })
}

const sessionOf = async ({ database }: Services, scope: KeyScope, given: string | undefined): Promise<string | null> => {
  const typed = given?.trim() ?? ''
  if (!needsSession(scope)) {
    if (typed === '') return null
    return refuse('invalid_request', `A key of the scope ${scope} belongs to no session. Leave the session out, or make a sess key.`, {
      field: 'session_id',
    })
  }
  if (typed === '')
    refuse('invalid_request', `A key of the scope ${scope} belongs to one session: say which, by its id or its link.`, {
      field: 'session_id',
    })
  const id = idWithin(typed)
  const session = isUuid(id) ? await sessionById(database, id) : undefined
  return session?.id ?? refuse('not_found', NO_SUCH_SESSION, { field: 'session_id' })
}

/** Revokes a key at once, everywhere: its calls, those that are held, and its streams. */
export const revokeKey = (services: Services, id: string): Promise<void> =>
  services.endCredentials(async (tx) => {
    await revokeKeys(tx, [id])
    return [keyTopic(id)]
  })

/** Revokes what begins so: a prefix as it is listed, or a whole key. 400 for another text, 404 when there is none, 409 when it is revoked. */
export const revokeByPrefix = async (services: Services, given: string): Promise<KeyRecord> => {
  const prefix = prefixIn(given.trim())
  if (prefix === undefined)
    return refuse('invalid_request', 'A key is named by its prefix, as `bun run key list` shows it: ca_full_1a2b3c4d.', { field: 'prefix' })
  const found = await keysWithPrefix(services.database, prefix)
  const [newest] = found
  if (!newest) return refuse('not_found', `There is no key ${prefix}. \`bun run key list\` shows those that there are.`)
  const good = found.filter(({ revokedAt }) => revokedAt === null)
  if (good.length === 0) return refuse('conflict', `The key ${prefix} (${newest.name}) was revoked at ${newest.revokedAt}.`)
  for (const { id } of good) await revokeKey(services, id)
  return newest
}
