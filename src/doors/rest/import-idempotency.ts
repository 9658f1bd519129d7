// Idempotency keys of imports. No transcript is added twice, with or without a key; with one, a retry also gets the first call's answer.
import { refuse } from '../../core/errors.ts'
import { parseToken, sha256 } from '../../core/ids.ts'
import type { HashedBody } from '../../import/source.ts'
import type { ImportReport } from '../../import/transcript.ts'
import { refuseOtherUse } from '../../operations/idempotency.ts'
import type { Services } from '../../process/services.ts'
import { findAnswer, saveFirstAnswer, type SavedAnswer } from '../../stores/idempotency.ts'
import { actorOf } from '../http/cookies.ts'
import type { Http } from '../http/http.ts'

const OPERATION = 'import_trace'
const LONGEST = 200
const SHORTEST_SECRET = 22 // for callers without a credential: two of them must not choose the same key by chance

interface ImportKey {
  scope: string
  caller: string
  keyHash: string
}

/** The Idempotency-Key of an import, if it has one. `parent`: the session that the transcript belongs to. */
export const importKeyOf = (c: Http, services: Services, parent: string | undefined): ImportKey | undefined => {
  const text = c.req.header('idempotency-key')
  if (text === undefined) return undefined
  const person = actorOf(c, services)
  const team = parent === undefined ? undefined : parseToken(c.req.header('x-team-id') ?? '')?.handle
  const key = c.get('key')
  const caller = person === undefined ? (key ? `key:${key.id}` : (team ?? '')) : `person:${person}`
  const least = caller === '' ? SHORTEST_SECRET : 1
  if (text.length < least || text.length > LONGEST)
    refuse('invalid_request', `idempotency_key: must have ${least} to ${LONGEST} characters`, { field: 'idempotency_key' })
  return { scope: parent ?? 'open', caller, keyHash: sha256(text) }
}

/** The earlier answer to this idempotency key. Reads the body to its end, to compare it with the earlier one. */
export const answeredBefore = async (
  services: Services,
  idempotencyKey: ImportKey,
  body: HashedBody,
): Promise<ImportReport | undefined> => {
  const before = await findAnswer(services.database, idempotencyKey)
  return before && sameReport(before, await body.digest())
}

/** Stores the answer. Of two imports at once with one key, both get the answer that was stored first. */
export const keepAnswer = async (
  services: Services,
  idempotencyKey: ImportKey,
  bodyHash: string,
  report: ImportReport,
): Promise<ImportReport> => {
  const earlier = await saveFirstAnswer(services.database, { ...idempotencyKey, operation: OPERATION, bodyHash, answer: { ...report } })
  return earlier ? sameReport(earlier, bodyHash) : report
}

// Its fields in the order of the first answer: jsonb reorders them.
const sameReport = (before: SavedAnswer, bodyHash: string): ImportReport => {
  refuseOtherUse({ operation: OPERATION, bodyHash }, before)
  const { session_id, source, turns, events, added, skipped, skipped_count } = before.answer as unknown as ImportReport
  return { session_id, source, turns, events, added, skipped, skipped_count }
}
