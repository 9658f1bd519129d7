// Deletes sessions for good, as an operator orders: from the log, the index and the memory of every instance.
import { z } from 'zod'
import type { Queries } from '../../db/database.ts'
import { retryUndone } from '../../db/retry-undone.ts'
import { vacuumAll } from '../../db/vacuum.ts'
import { reasonOf } from '../../db/errors.ts'
import { describeError } from '../core/runtime/log.ts'
import { pause } from '../core/runtime/pause.ts'
import { appendEvents } from '../log/append.ts'
import { topicOf, type Topic } from '../log/topics.ts'
import { forgetEvents, lockIndex } from '../search/forget.ts'
import {
  BY_PURGE,
  cutLog,
  cutVersions,
  deleteOpenAnswers,
  deleteSession,
  isStillOld,
  logEndOf,
  purgeableByAge,
  purgeableById,
  type Piece,
  type Purgeable,
} from '../stores/purge.ts'
import { lockSession } from '../stores/sessions.ts'
import type { Services } from './services.ts'
import { CUT_KIND, PURGED_KIND } from './publish.ts'

/** What the words after `bun run purge` ask for. */
export const purgeOrder = z.object({
  ids: z.array(z.uuid()),
  days: z.number().optional(),
  kinds: z.array(z.enum(['rooms', 'traces'])),
  /** Without it nothing is deleted. */
  yes: z.boolean(),
})
export type PurgeOrder = z.infer<typeof purgeOrder>

export interface PurgeAnswer {
  sessions: Purgeable[]
  /** Ids that no session has, or that were purged before. */
  unknown: string[]
  purged: number
  /** Their agents were stopped: prompts waited there for money that the purge gave back. */
  stopped?: string[]
  /** The purge ended before all that it found was deleted. */
  cut_short?: true
  /** Why, where it failed. */
  failed?: string
}

const MAY_TAKE_MS = 30 * 60_000 // for what reads all sessions, or waits for whoever indexes
// A trace can have a million events, and whatever else needs the database or the index waits for a piece.
const PIECE = { pglite: { rows: 50, bytes: 32 * 1024 }, postgres: { rows: 500, bytes: 256 * 1024 } }

type GoesOn = () => boolean

/** Finds what an order names, and with `yes` deletes it, a session at a time. A purge that was interrupted, or that `goesOn` has ended between
 *  two pieces, is run again: the session that it was at is archived then, and has the beginning of its log. So is one that fails in the middle,
 *  which answers with what it has done by then. */
export const purge = async (
  services: Services,
  { ids, days, kinds, yes }: PurgeOrder,
  goesOn: GoesOn = () => true,
): Promise<PurgeAnswer> => {
  const { database, log } = services
  const named = ids.length > 0 ? await purgeableById(database, ids) : []
  const old = days === undefined ? [] : await database.unhurried((tx) => purgeableByAge(tx, days, kinds), MAY_TAKE_MS)
  const found = [...new Map([...named, ...old].map((session) => [session.id, session])).values()]
  const going = yes ? found.map(({ id }) => id) : []
  const unknown = ids.filter((id) => !named.some((session) => session.id === id))
  if (going.length === 0) return { sessions: found, unknown, purged: 0 }
  log('info', 'a purge begins', { sessions: going.length })
  await retryUndone(() => database.unhurried((tx) => deleteOpenAnswers(tx, going), MAY_TAKE_MS))
  const byName = new Set(named.map(({ id }) => id))
  const daysOf = (id: string) => (byName.has(id) ? undefined : days)
  const { purged, left, stopped, failure } = await purgeEach(services, going, daysOf, goesOn)
  // Of what follows nothing may hide what was done.
  const warnOf = (message: string) => (error: unknown) => log('warn', message, describeError(error))
  // Only now: it would keep one that is found by its age.
  for (const id of stopped)
    await noteStop(services, id).catch(warnOf(`the log of session ${id} does not say that a purge stopped its agent`))
  const cut = left > 0
  if (purged > 0 && failure === undefined && goesOn())
    await vacuumAll(database, (message) => log('warn', message)).catch(warnOf('the vacuum after a purge failed'))
  const agents = stopped.length > 0 && { stopped }
  log(failure === undefined ? 'info' : 'error', cut ? 'a purge was cut short' : 'a purge is done', {
    sessions: purged,
    ...agents,
    ...(failure !== undefined && describeError(failure)),
  })
  const ended = {
    ...agents,
    ...(cut && { cut_short: true as const }),
    ...(failure !== undefined && { failed: reasonOf(rootCauseOf(failure)) }),
  }
  return { sessions: found, unknown, purged, ...ended }
}

// What drizzle throws has the statement, and why it failed as its cause.
const rootCauseOf = (error: unknown): unknown => (error instanceof Error && error.cause !== undefined ? rootCauseOf(error.cause) : error)

// Deletes one after the other, until one fails.
const purgeEach = async (services: Services, going: string[], daysOf: (id: string) => number | undefined, goesOn: GoesOn) => {
  let purged = 0
  let left = going.length
  let failure: unknown
  const stopped = new Set<string>()
  try {
    for (const id of going) {
      const freed = goesOn() ? await purgeOne(services, id, daysOf(id), goesOn) : undefined
      if (freed) {
        purged++
        for (const session of freed) stopped.add(session)
        stopped.delete(id) // stopped by an earlier one, and gone by now
      } else if (!goesOn()) break
      left--
    }
  } catch (error) {
    failure = error
  }
  return { purged, left, stopped: [...stopped], failure }
}

// A session that is found by its age alone stays where something has happened in it since: many take hours. Returns the sessions whose agents
// were stopped; undefined where it stays.
const purgeOne = async (services: Services, id: string, days: number | undefined, goesOn: GoesOn): Promise<string[] | undefined> => {
  const piece = PIECE[services.database.engine]
  while (goesOn() && (await told(services, topicOf(CUT_KIND, id), (tx) => shorten(tx, id, days, piece)))) await pause()
  return goesOn() ? told(services, topicOf(PURGED_KIND, id), (tx) => deleteRest(tx, id, days)) : undefined
}

// A transaction after which no instance must serve what it deleted, however this process ends: the others are told with the commit. Where that
// is not answered, it may have been made.
const told = async <Result>({ database, sendWith, movedHere }: Services, topic: Topic, work: (tx: Queries) => Promise<Result>) => {
  const now = Date.now()
  const write = async (tx: Queries) => {
    const result = await work(tx)
    if (result) await sendWith(tx, topic, now)
    return result
  }
  try {
    const result = await retryUndone(() => database.unhurried(write, MAY_TAKE_MS))
    if (result) movedHere(topic, now)
    return result
  } catch (error) {
    movedHere(topic, now)
    throw error
  }
}

// In the log of a session whose agent was stopped, as whoever else stops one leaves it there.
const noteStop = async ({ database, grewHere }: Services, sessionId: string) => {
  const content = { event: 'agent_stopped', by: BY_PURGE, text: STOPPED }
  const note = async (tx: Queries) => {
    await lockSession(tx, sessionId)
    const stopped = await tx.query('select from agents where session_id = $1 and held and held_by = $2', [sessionId, BY_PURGE])
    if (stopped.length === 0) return [] // somebody has started it again
    return appendEvents(tx, [{ sessionId, type: 'runtime', author: 'system', content, evenClosed: true }])
  }
  const [answer] = await retryUndone(() => database.unhurried(note, MAY_TAKE_MS))
  if (answer?.outcome === 'appended') grewHere(sessionId, answer.event.sequence, 1)
}

const STOPPED = 'A purge stopped the agent: its prompts waited for money, and would go on by what was deleted.'

const deleteRest = async (tx: Queries, id: string, days: number | undefined): Promise<string[] | undefined> => {
  await lockIndex(tx)
  await lockSession(tx, id)
  if (!(await isStillOld(tx, id, days))) return undefined
  const rest = await logEndOf(tx, id) // what came meanwhile
  if (rest) await forgetEvents(tx, id, rest)
  return deleteSession(tx, id)
}

// Deletes a piece of the session's log, from its end, from the log and the index alike, and then of its document's versions, from their
// beginning. False when what is left of each is a piece, which goes with the session.
const shorten = async (tx: Queries, id: string, days: number | undefined, piece: Piece): Promise<boolean> => {
  await lockIndex(tx)
  const session = await lockSession(tx, id)
  if (!(await isStillOld(tx, id, days))) return false
  if (session?.purgedAt !== null) return false
  const end = await logEndOf(tx, id, piece)
  if (!end || end.after === 0) return cutVersions(tx, id, piece)
  await forgetEvents(tx, id, end)
  await cutLog(tx, id, end)
  return true
}
