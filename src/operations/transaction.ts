// A write: one transaction that locks the subject, looks up the idempotency key, does the work and keeps the answer.
import { ANSWER_WITHIN_MS, DatabaseTimeout, type Queries } from '../../db/database.ts'
import { createContext, type Outcome, type Request } from './context.ts'
import { notAuthenticated } from './not-authenticated.ts'
import { derivedSecret, newSecret } from '../core/ids.ts'
import { createEffects, type Effects } from './effects.ts'
import { refuseOtherUse, isUnguarded, type IdempotencyKey } from './idempotency.ts'
import { secretFrom, withCredential, withoutCredential } from './new-credentials.ts'
import { isSessionSubject, type Subject } from './subject.ts'
import { isCollision } from '../../db/errors.ts'
import { findAnswer, saveAnswer } from '../stores/idempotency.ts'
import { lockText } from '../../db/advisory-locks.ts'
import type { Session } from '../stores/sessions.ts'

const TRIES = 4 // a transaction that collided with another was undone whole

export interface Write extends Request {
  subject: Subject | undefined
  idempotency: IdempotencyKey | undefined
}

/** Runs an operation with effect `write`. A transaction that collided with another is tried again; what it did is published once it is
 *  committed. */
export const write = (asked: Write): Promise<Outcome> => {
  const { services, subject } = asked
  const begun = performance.now()
  const work = () => writeUntilDone(asked, begun)
  return subject ? services.writeInTurn(subject.key, work) : work()
}

const writeUntilDone = async (asked: Write, begun: number): Promise<Outcome> => {
  const { services } = asked
  for (let tried = 1; ; tried++) {
    try {
      const left = ANSWER_WITHIN_MS - (performance.now() - begun)
      if (left <= 0) throw new DatabaseTimeout()
      const { outcome, effects } = await services.database.transaction(async (tx) => {
        const effects = createEffects(tx, asked.caller)
        return { outcome: await writeOnce(tx, asked, effects), effects }
      }, left)
      effects.publish(services)
      return outcome
    } catch (error) {
      if (!isCollision(error) || tried === TRIES) throw error
    }
  }
}

// First the idempotency key's earlier answer, then whether the caller is still there, then state and role, which the operation judges.
const writeOnce = async (tx: Queries, asked: Write, effects: Effects): Promise<Outcome> => {
  const { operation, caller, input, subject, idempotency } = asked
  const locked = subject && ((await subject.lock(tx)) ?? missing(asked, subject))
  if (isSessionSubject(subject)) effects.changed(subject.key)
  if (idempotency && isUnguarded(idempotency)) await lockText(tx, idempotency.keyHash)
  const before = idempotency && (await findAnswer(tx, idempotency))
  if (before) {
    refuseOtherUse(idempotency, before)
    return { ok: true, data: await withCredential(tx, asked, idempotency, before.answer), replayed: true }
  }
  const kind = operation.callers.find(({ kind }) => kind === caller.kind)
  if (kind?.isCurrent && !(await kind.isCurrent(tx, caller, input))) notAuthenticated(operation)
  const data = await operation.run(
    createContext(asked, { queries: tx, locked, ...sessionOf(asked, locked), ...effects, ...secrets(asked) }),
    input,
  )
  if (idempotency) {
    const { text: _, ...stored } = idempotency
    await saveAnswer(tx, { ...stored, answer: withoutCredential(asked, idempotency, data) })
  }
  return { ok: true, data, replayed: false }
}

// A caller whose credential has ended is not even told that the subject is missing: it may only get an idempotency key's earlier answer.
const missing = ({ caller, operation }: Write, subject: Subject): never => (caller.ended ? notAuthenticated(operation) : subject.missing())

const sessionOf = ({ subject }: Write, locked: unknown) => (isSessionSubject(subject) ? { session: locked as Session } : {})

// A call may make credentials of several handles and tell one of them: its secret must open none of the others.
const secrets = (asked: Write) => {
  const fresh = newSecret()
  return {
    secretFor: (handle: string) => (asked.idempotency ? secretFrom(asked, asked.idempotency, handle) : derivedSecret(fresh, handle)),
  }
}
