// A write: one transaction that holds the session, looks up its idempotency key, does the work and remembers the answer.
import { ANSWER_WITHIN_MS, DatabaseTimeout, type Queries } from '../../db/database.ts'
import { contextOf, type Outcome, type Request } from './context.ts'
import { refuse, unauthorized } from '../core/errors.ts'
import { derivedSecret, isUuid, newSecret, UUID_LENGTH } from '../core/ids.ts'
import { assertSameUse, type Key } from './idempotency.ts'
import { appendEvents, type Draft } from '../log/append.ts'
import type { Event } from '../stores/events.ts'
import { isCollision } from '../../db/errors.ts'
import { findAnswer, remember, type Remembered } from '../stores/idempotency.ts'
import { lockText } from '../../db/advisory-locks.ts'
import { isPresent, memberByToken } from '../stores/members.ts'
import { lockSession } from '../stores/sessions.ts'

const TRIES = 4 // a transaction that collided with another was undone whole

/** Runs an operation with effect `write`. Its events are told of once they are committed; what collided with another is tried again. */
export const write = (request: Request, key: Key | undefined): Promise<Outcome> => {
  const begun = performance.now()
  const session = request.input.session_id
  if (!isUuid(session)) return writeUntilDone(request, key, begun)
  return request.services.writeInTurn(session, () => writeUntilDone(request, key, begun))
}

const writeUntilDone = async (request: Request, key: Key | undefined, begun: number): Promise<Outcome> => {
  for (let tried = 1; ; tried++) {
    const appended: Event[] = []
    try {
      const left = ANSWER_WITHIN_MS - (performance.now() - begun)
      if (left <= 0) throw new DatabaseTimeout()
      const outcome = await request.services.database.transaction((tx) => writeOnce(tx, request, key, appended), left)
      if (appended.length > 0) request.services.publish(request.input.session_id, appended)
      else toldOf(request, outcome)
      return outcome
    } catch (error) {
      if (!isCollision(error) || tried === TRIES) throw error
    }
  }
}

// What no event announces: a new session, or another document. Search must find it too.
const toldOf = ({ services, input }: Request, outcome: Outcome) => {
  const id = outcome.ok ? (input.session_id ?? outcome.data.session_id) : undefined
  if (isUuid(id)) services.indexer.moved(id)
}

// The order of the contract: the key's earlier answer first, then the caller's presence, then state and role (the operation's own).
const writeOnce = async (tx: Queries, request: Request, key: Key | undefined, appended: Event[]): Promise<Outcome> => {
  const { operation, caller, input } = request
  const session = isUuid(input.session_id ?? '') ? await lockSession(tx, input.session_id) : undefined
  if (operation.access !== 'open' && input.session_id !== undefined && !session)
    refuse('not_found', 'There is no such session.', { session_id: input.session_id })
  if (key?.scope === 'open') await lockText(tx, key.keyHash) // no session's lock guards it
  const before = key && (await findAnswer(tx, key))
  if (before) return { ok: true, data: await replay(tx, request, key, before), replayed: true }
  if (caller.kind === 'team' && !(await isPresent(tx, input.session_id, caller.member.teamId))) unauthorized()
  const append = async (content: Draft['content'], evenClosed = false) => {
    const event = await appendOne(tx, { sessionId: session!.id, type: 'system', author: 'system', content, evenClosed })
    appended.push(event)
    return event
  }
  const fresh = newSecret()
  const secretFor = (handle: string) => (key ? secretOf(request, key, handle) : fresh)
  const data = await operation.run(contextOf(request, { queries: tx, session, append, secretFor }), input)
  if (key) await remember(tx, { ...kept(key), answer: operation.issues ? withoutSecret(request, key, data) : data })
  return { ok: true, data, replayed: false }
}

const appendOne = async (tx: Queries, draft: Draft): Promise<Event> => {
  const [answer] = await appendEvents(tx, [draft])
  if (answer?.outcome !== 'appended') throw new Error(`an event was ${answer?.outcome} inside its own transaction`)
  return answer.event
}

const kept = ({ text: _, ...stored }: Key) => stored

const secretOf = ({ services, operation }: Request, key: Key, handle: string) =>
  derivedSecret(services.setting('server_secret')!, operation.name, key.text, handle)

// A token made from the key can be made again. One that the caller brought is not ours to keep: null says so.
const withoutSecret = (request: Request, key: Key, data: Record<string, unknown>) => {
  if (request.operation.issues === 'url') {
    const url = String(data.url)
    return { ...data, url: url.slice(0, url.lastIndexOf('.')) }
  }
  const made = data.team_id === `${data.handle}.${secretOf(request, key, String(data.handle))}`
  return { ...data, team_id: made ? undefined : null }
}

/** The answer that a key had before, with the credential that went with it. */
const replay = async (tx: Queries, request: Request, key: Key, before: Remembered) => {
  assertSameUse(key, before)
  const { answer } = before
  const { issues } = request.operation
  if (!issues) return answer
  if (issues === 'url') return { ...answer, url: `${String(answer.url)}.${secretOf(request, key, String(answer.url).slice(-UUID_LENGTH))}` }
  const handle = String(answer.handle)
  if (answer.team_id === undefined) return { ...answer, team_id: `${handle}.${secretOf(request, key, handle)}` }
  const own = await memberByToken(tx, String(answer.session_id), request.call.token)
  return own?.teamId === handle ? { ...answer, team_id: request.call.token } : unauthorized()
}
