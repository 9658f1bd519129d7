// Holds the peek of one team until a message may wake its agent.
import { setTimeout as sleep } from 'node:timers/promises'
import { baseOfLink } from '../../core/address.ts'
import { isLessGuarded, Unreachable } from '../hub.ts'
import { peekAt, writersOf, type Peek, type PeekAsked, type PeekResult } from './hub-peek.ts'
import { noticeOf } from './notice.ts'
import { dropEntry, entryNow, isKept, keepEntry, type Entry } from './sessions.ts'

const HELD_S = 30
const AT_ONCE_MS = 500 // what answers so soon without news holds nothing, and is asked less and less
const FIRST_RETRY_MS = 250
const LAST_RETRY_MS = 60_000
const READ_CHECK_MS = 2_000
const REFUSED_FOR_MS = 24 * 3600 * 1000 // a hub whose place another one takes is there again by then

export interface Holding {
  home: string
  /** The hub's ACCESS_TOKEN as it is kept now: it may change while a watch runs. */
  token: () => string | undefined
  addressedOnly: boolean
  signal: AbortSignal
  /** Another address that the hub has announced. */
  announced: () => string | undefined
  /** Whether this program has the watch of the team still, where another one may take it over. */
  isOurs?: () => boolean
}

/** The notice for the agent; undefined once there is nothing more to wait for: the session is concluded, the hub has refused the team for a
 *  day, the entry was taken away, another watch has taken over, or the signal aborts. A message is noted as told before the agent is told, so
 *  that nothing wakes it twice. Throws Stop where the note cannot be written. */
export const holdPeek = async (entry: Entry, holding: Holding): Promise<string | undefined> => {
  const { home, signal } = holding
  const isOver = () => signal.aborted || !isKept(home, entry) || holding.isOurs?.() === false
  for (let failures = 0; !isOver();) {
    const began = performance.now()
    const base = baseFor(entry, holding, failures)
    const result = await attempt(entry, { ...holding, base })
    if (isOver()) return undefined
    if (result === 'refused') {
      if (isForgotten(entry)) return void dropEntry(home, entry)
      if (entry.refusedSince === undefined) entry = noted(home, entry, { refusedSince: Date.now() })
    }
    if (result === 'beyond the end') entry = noted(home, entry, { told: undefined })
    if (isPeek(result)) {
      if (entry.refusedSince !== undefined) entry = noted(home, entry, { refusedSince: undefined })
      const notice = result.wake ? await noticeFor(entry, result, { ...holding, base }) : undefined
      if (isOver()) return undefined // nobody is told any more, so nothing is noted as told
      if (result.closed) dropEntry(home, entry)
      else if (notice) noted(home, entry, { told: result.last })
      if (notice || result.closed) return notice
    }
    const wasHeld = isPeek(result) && performance.now() - began > AT_ONCE_MS
    failures = wasHeld ? 0 : failures + 1
    if (!wasHeld) await pause(failures, result, signal)
  }
  return undefined
}

const isForgotten = ({ refusedSince }: Entry): boolean => refusedSince !== undefined && Date.now() - refusedSince > REFUSED_FOR_MS

// Keeps how far the agent was told, or since when the hub has refused it, in the entry as it is now.
const noted = (home: string, entry: Entry, what: Pick<Entry, 'told'> | Pick<Entry, 'refusedSince'>): Entry => {
  const now = { ...(entryNow(home, entry) ?? entry), ...what }
  keepEntry(home, now)
  return now
}

/** What there is for the team now, by a peek that is not held and so takes no wake; undefined while the hub does not answer. */
export const peekNow = async (entry: Entry, holding: Holding): Promise<Peek | 'refused' | undefined> => {
  try {
    const result = await peekAt(entry, asked({ ...holding, base: baseFor(entry, holding, 0) }, undefined, 0))
    return result === 'refused' || isPeek(result) ? result : undefined
  } catch (error) {
    return unlessUnreachable(error)
  }
}

type At = Holding & { base: string }

const attempt = async (entry: Entry, at: At): Promise<PeekResult> => {
  try {
    const after = await startOf(entry, at)
    return await peekAt(entry, asked(at, after, HELD_S))
  } catch (error) {
    if (error instanceof Unreachable) return { retryAfterS: undefined }
    throw error
  }
}

const asked = ({ base, token, addressedOnly, signal }: At, after: number | undefined, holdS: number): PeekAsked => {
  return { base, token: token(), after, addressedOnly, holdS, signal }
}

// Where to count from: what the agent was told of or, where it has read further since, what was delivered to it, which the hub knows. From
// there the count is lower.
const startOf = async (entry: Entry, at: At): Promise<number | undefined> => {
  if (entry.told === undefined) return undefined
  const peeks = await peeksOfTold(entry, at)
  return peeks && !hasUnreadOfTold(peeks, at) ? undefined : entry.told
}

/** Waits until the agent has read what it was told of, at most `withinMs`, and no longer than its session goes on. It asks by peeks that are
 *  not held and so take no wake. */
export const untilToldIsRead = async (entry: Entry, holding: Holding, withinMs: number): Promise<void> => {
  const { home, signal } = holding
  const at = { ...holding, base: baseFor(entry, holding, 0) }
  for (const from = performance.now(); entry.told !== undefined && performance.now() - from < withinMs;) {
    const peeks = await peeksOfTold(entry, at).catch(unlessUnreachable)
    if (!peeks || peeks[0].closed || !hasUnreadOfTold(peeks, at)) return
    await sleep(READ_CHECK_MS, undefined, { signal }).catch(() => {})
    if (signal.aborted || entryNow(home, entry)?.told !== entry.told) return // it may have joined again, in another conversation
  }
}

const unlessUnreachable = (error: unknown): undefined => {
  if (!(error instanceof Unreachable)) throw error
}

// Peeks from what was delivered, and from what the agent was told of; undefined where the hub answers either otherwise.
const peeksOfTold = async (entry: Entry, at: At): Promise<[Peek, Peek] | undefined> => {
  const [delivered, told] = await Promise.all([undefined, entry.told].map((after) => peekAt(entry, asked(at, after, 0))))
  return isPeek(delivered!) && isPeek(told!) ? [delivered, told] : undefined
}

const hasUnreadOfTold = ([delivered, told]: [Peek, Peek], at: At): boolean => left(told, at) < left(delivered, at)

/** How many messages are left that may wake the agent. A wait for what is addressed to it delivers that alone, and leaves the rest unread. */
export const left = ({ unread, addressed }: Peek, { addressedOnly }: Holding): number => (addressedOnly ? addressed : unread)

// A wait that the agent holds meanwhile may have brought it the message already: it is not woken then.
const noticeFor = async (entry: Entry, peek: Peek, at: At): Promise<string | undefined> => {
  try {
    const [now, writers] = await Promise.all([
      peekAt(entry, asked(at, undefined, 0)),
      writersOf(entry, peek.unread, asked(at, undefined, 0)),
    ])
    const there = isPeek(now) ? fewerOf(now, peek) : peek
    return left(there, at) === 0 ? undefined : noticeOf(entry, there, writers)
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error
    return noticeOf(entry, peek, new Map())
  }
}

const fewerOf = (now: Peek, peek: Peek): Peek => ({
  ...peek,
  unread: Math.min(now.unread, peek.unread),
  addressed: Math.min(now.addressed, peek.addressed),
})

const isPeek = (result: PeekResult): result is Peek => typeof result === 'object' && 'wake' in result

// Every other try goes to the address that the hub has announced, if that is another one. A hub behind a tunnel may announce one that is
// plain http, which gets no credential.
const baseFor = ({ link }: Entry, { announced }: Holding, failures: number): string => {
  const other = announced()
  return baseOfLink(failures % 2 === 1 && other !== undefined && !isLessGuarded(other, link) ? other : link)
}

const pause = async (failures: number, result: PeekResult, signal: AbortSignal): Promise<void> => {
  const wanted = typeof result === 'object' && 'retryAfterS' in result ? (result.retryAfterS ?? 0) * 1000 : 0
  const ms = Math.min(LAST_RETRY_MS, Math.max(wanted, FIRST_RETRY_MS * 2 ** (failures - 1)))
  await sleep(ms * (0.75 + Math.random() / 4), undefined, { signal }).catch(() => {})
}
