// Idempotency keys of imports. A transcript is never added twice, with a key or without; with one, a retry also gets the first answer.
import { refuse } from '../../core/errors.ts'
import { parseToken, sha256 } from '../../core/ids.ts'
import type { Hashing } from '../../import/source.ts'
import type { Report } from '../../import/transcript.ts'
import { assertSameUse } from '../../operations/idempotency.ts'
import type { Services } from '../../process/services.ts'
import { findAnswer, rememberFirst, type Remembered } from '../../stores/idempotency.ts'
import { actorOf } from '../http/cookies.ts'
import type { Http } from '../http/http.ts'

const OPERATION = 'import_trace'
const LONGEST = 200
const SHORTEST_SECRET = 22 // of somebody unknown: two of them must not meet under one key

interface TraceKey {
  scope: string
  caller: string
  keyHash: string
}

/** The key of an import that has one. `parent`: the room that it is tied to. */
export const traceKeyOf = (c: Http, services: Services, parent: string | undefined): TraceKey | undefined => {
  const text = c.req.header('idempotency-key')
  if (text === undefined) return undefined
  const person = actorOf(c, services)
  const team = parent === undefined ? undefined : parseToken(c.req.header('x-team-id') ?? '')?.handle
  const caller = person === undefined ? (team ?? '') : `person:${person}`
  const least = caller === '' ? SHORTEST_SECRET : 1
  if (text.length < least || text.length > LONGEST)
    refuse('invalid_request', `idempotency_key: must have ${least} to ${LONGEST} characters`, { field: 'idempotency_key' })
  return { scope: parent ?? 'open', caller, keyHash: sha256(text) }
}

/** What was answered under this key before. The body is read to its end, to know whether it is the same. */
export const answeredBefore = async (services: Services, key: TraceKey, body: Hashing): Promise<Report | undefined> => {
  const before = await findAnswer(services.database, key)
  return before && sameReport(before, await body.digest())
}

/** Keeps the answer; of two imports at once under one key the first answer holds. */
export const keepAnswer = async (services: Services, key: TraceKey, bodyHash: string, report: Report): Promise<Report> => {
  const earlier = await rememberFirst(services.database, { ...key, operation: OPERATION, bodyHash, answer: { ...report } })
  return earlier ? sameReport(earlier, bodyHash) : report
}

// In the order in which it was first told: jsonb has its own.
const sameReport = (before: Remembered, bodyHash: string): Report => {
  assertSameUse({ operation: OPERATION, bodyHash }, before)
  const { session_id, source, turns, events, added, skipped, skipped_count } = before.answer as unknown as Report
  return { session_id, source, turns, events, added, skipped, skipped_count }
}
