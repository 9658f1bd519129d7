// An ACP agent that loads a conversation tells all of it again, some of it after it has said that it is done.
import { setTimeout as sleep } from 'node:timers/promises'

const QUIET_MS = 250
const LONGEST_MS = 10_000
const CHECK_EVERY_MS = 50

/** Waits until the agent has told nothing for a moment. `lastUpdateAt`: when it told something last, by performance.now(). */
export const untilQuiet = async (lastUpdateAt: () => number): Promise<void> => {
  const begun = performance.now()
  while (performance.now() - lastUpdateAt() < QUIET_MS && performance.now() - begun < LONGEST_MS) await sleep(CHECK_EVERY_MS)
}

const KEPT = 1000 // the newest ids, without lru-cache: for this alone the client's one file would have to bring it
const openedIn = new Map<string, number>() // the minute in which a conversation was last opened by this process, by its id
const minute = () => Math.floor(Date.now() / 60_000)
const STARTED_IN = minute() // a process before this one may have opened any conversation in it

/** Notes that a conversation was opened. */
export const noteOpened = (id: string): void => {
  openedIn.delete(id)
  openedIn.set(id, minute())
  for (const oldest of openedIn.keys()) if (openedIn.size > KEPT) openedIn.delete(oldest)
}

/** Whether the conversation was, or may have been, opened in this very minute. */
export const openedThisMinute = (id: string): boolean => (openedIn.get(id) ?? STARTED_IN) === minute()

/** Waits for the next minute, unless it is over before. */
export const nextMinute = async (isOver: () => boolean): Promise<void> => {
  for (const now = minute(); minute() === now && !isOver();) await sleep(CHECK_EVERY_MS)
}
