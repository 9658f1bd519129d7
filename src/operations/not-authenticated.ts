// The one 401 of each operation, for a missing credential, one that proves nobody, and one of a team that has left, so that nobody can tell
// these apart. Its message names the credential that the operation takes.
import { unauthorized } from '../core/errors.ts'
import { howToGet } from '../core/key-scopes.ts'
import { keyRowOf, type Operation } from './operation.ts'

/** Refuses a call of this operation with 401. */
export const notAuthenticated = (operation: Pick<Operation<never>, 'callers' | 'onlyFor' | 'keyRow' | 'effect'>): never => {
  const { callers, onlyFor } = operation
  if (onlyFor !== undefined) return unauthorized(onlyFor)
  if (callers.some(({ kind }) => kind === 'team') || !callers.some(({ kind }) => kind === 'key')) return unauthorized()
  const how = howToGet(keyRowOf(operation))
  return unauthorized(`Send a key as Authorization: Bearer KEY, in place of the access token if this server has one. ${how}`)
}
