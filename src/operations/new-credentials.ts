// Operations that hand out a credential: a retry with the same idempotency key must get the same one, and yet none is ever stored.
import type { Queries } from '../../db/database.ts'
import type { Request } from './context.ts'
import { unauthorized } from '../core/errors.ts'
import { derivedSecret, UUID_LENGTH } from '../core/ids.ts'
import type { IdempotencyKey } from './idempotency.ts'
import { memberByToken } from '../stores/members.ts'

/** The secret that belongs to this handle: derived from the idempotency key and a secret of the server's, so that it can be made again. */
export const secretFrom = ({ services, operation }: Request, idempotency: IdempotencyKey, handle: string): string =>
  derivedSecret(services.setting('server_secret')!, operation.derivedAs ?? operation.id, idempotency.text, handle)

/** An answer as it is kept: without the credential. A token that the caller brought was not made here and cannot be made again: null says
 *  so. */
export const withoutCredential = (
  request: Request,
  idempotency: IdempotencyKey,
  data: Record<string, unknown>,
): Record<string, unknown> => {
  const { issues } = request.operation
  if (issues === 'url' || issues === 'code') {
    const { code: _, ...kept } = data
    const url = String(data.url)
    return { ...kept, url: url.slice(0, url.lastIndexOf('.')) }
  }
  if (issues === undefined) return data
  const madeHere = data.team_id === `${data.handle}.${secretFrom(request, idempotency, String(data.handle))}`
  return { ...data, team_id: madeHere ? undefined : null }
}

/** A kept answer with the credential that went with it. 401 when that was the caller's own and the caller does not bring it. */
export const withCredential = async (tx: Queries, request: Request, idempotency: IdempotencyKey, answer: Record<string, unknown>) => {
  const { issues } = request.operation
  if (issues === 'url' || issues === 'code') {
    const url = String(answer.url)
    const code = `${url.slice(-UUID_LENGTH)}.${secretFrom(request, idempotency, url.slice(-UUID_LENGTH))}`
    return { ...answer, url: url.slice(0, -UUID_LENGTH) + code, ...(issues === 'code' && { code }) }
  }
  if (issues === undefined) return answer
  if (answer.handle === null) return answer // a person got none
  const handle = String(answer.handle)
  if (answer.team_id === undefined) return { ...answer, team_id: `${handle}.${secretFrom(request, idempotency, handle)}` }
  const own = await memberByToken(tx, String(answer.session_id), request.call.token)
  return own?.teamId === handle ? { ...answer, team_id: request.call.token } : unauthorized()
}
