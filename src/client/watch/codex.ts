// `watch --codex`: wakes conversations of Codex, which has no hook that could, by `codex queue` when a message comes for them. It runs until
// none of their sessions is left.
import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { sameHub } from '../hub.ts'
import { noteOf } from '../hub-notes.ts'
import { Stop, type Machine } from '../machine.ts'
import { keptToken } from '../tokens.ts'
import { readHookInput } from './hook-input.ts'
import { holdPeek, left, peekNow, untilToldIsRead, type Holding } from './hold.ts'
import { dropEntry, entriesOf, entryNow, isKept, keepEntry, type Entry } from './sessions.ts'
import { giveWatchBack, takeWatch } from './turn.ts'
import type { WatchOptions } from './watch.ts'

const CHECK_EVERY_MS = 2_000
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 60_000
const QUEUED_WITHIN_MS = 30_000
const UNREAD_FOR_MS = 5 * 60_000 // a line that was queued so long ago may be lost
const LAST_PAUSE_MS = 4_000 // of a session that is concluded

/** With the answer of create_session or join_session on standard input, takes that session down, leaves a process behind that watches, and
 *  ends. Without, watches. */
export const watchCodex = async (machine: Machine, options: WatchOptions): Promise<number> => {
  const { joined, thread, folder } = await readHookInput(machine)
  if (!joined) return watchThreads(machine, options)
  if (!thread) throw new Stop('This answer has no wake_command: join_session must be called by Codex, as a tool.')
  const { link, wakeFor } = options
  keepEntry(machine.home, { link, ...joined, ancestors: [], conversation: thread, folder, thread, wakeFor })
  const words = ['watch', '--codex', '--hub', link, '--wake', wakeFor]
  const env = machine.env as NodeJS.ProcessEnv
  spawn(machine.runtime, [machine.program, ...words], { detached: true, stdio: 'ignore', env, cwd: machine.home }).unref()
  machine.out.write(`A message in session ${joined.session_id} wakes this conversation from now on.\n`)
  return 0
}

const watchThreads = async (machine: Machine, { link, wakeFor }: WatchOptions): Promise<number> => {
  const { home, pid, err } = machine
  const over = new AbortController()
  const token = () => keptToken(home, link)
  const announced = () => noteOf(home, link).announced
  const holding = { home, token, addressedOnly: wakeFor === 'addressed', announced, signal: over.signal }
  const held = new Map<string, Promise<void>>()
  // A full disk ends nothing that is watched already: what is new is taken once there is room.
  const isTaken = (entry: Entry): boolean => {
    try {
      return takeWatch(home, entry, pid)
    } catch (error) {
      if (!(error instanceof Stop) || held.size === 0) throw error
      return false
    }
  }
  const check = () => {
    for (const entry of entriesOf(home).filter((each) => each.thread !== undefined && sameHub(each.link, link) && !held.has(each.team_id)))
      if (isTaken(entry))
        held.set(
          entry.team_id,
          watchThread(machine, entry, holding).finally(() => held.delete(entry.team_id)),
        )
  }
  try {
    check()
    if (held.size === 0) err.write('No session of Codex is left to watch here, or another watch is running.\n')
    for (; held.size > 0; check()) await Promise.race([...held.values(), new Promise((resolve) => setTimeout(resolve, CHECK_EVERY_MS))])
    return 0
  } finally {
    over.abort()
  }
}

const watchThread = async (machine: Machine, entry: Entry, holding: Holding): Promise<void> => {
  try {
    for (let now: Entry | undefined = entry; now; now = entryNow(machine.home, entry)) {
      const isGoingOn = await heldAndTold(machine, now, holding).catch((error) => untilWritten(machine, entry, holding, error))
      if (!isGoingOn) return
    }
  } finally {
    giveWatchBack(machine.home, entry, machine.pid)
  }
}

// Holds one peek and tells what comes of it. Resolves with whether there is more to wait for; throws Stop where something cannot be kept. While
// a line waits for an agent that is at work, none is queued beside it: each begins a turn, and the first one reads everything.
const heldAndTold = async (machine: Machine, entry: Entry, holding: Holding): Promise<boolean> => {
  const addressedOnly = entry.wakeFor === undefined ? holding.addressedOnly : entry.wakeFor === 'addressed'
  const own = { ...holding, addressedOnly }
  await untilToldIsRead(entry, own, UNREAD_FOR_MS)
  const notice = await holdPeek(entry, own)
  if (notice === undefined) return false
  await tell(machine, entry, notice, own)
  return true
}

// A message that cannot be noted as told is not told. The entry is written again until that works, as on a disk that is full for a while; only
// then the peek is held again, since each peek that may wake takes one of the session's wakes.
const untilWritten = async ({ home, err }: Machine, entry: Entry, { signal }: Holding, error: unknown): Promise<true> => {
  if (!(error instanceof Stop)) throw error
  err.write(`${error.message} Until it can be, nobody is told of session ${entry.session_id}.\n`)
  for (let wait = FIRST_PAUSE_MS; !signal.aborted; wait = Math.min(wait * 2, LONGEST_PAUSE_MS)) {
    await sleep(wait, undefined, { signal }).catch(() => {})
    const now = entryNow(home, entry)
    if (!now || isNoted(home, now, now.told)) break
  }
  return true
}

// What cannot be queued was not told: it is tried again, by a watch that comes after this one too. The same notice, since each peek that may wake
// takes one of the session's wakes; until the agent has read it by itself, or it was disconnected.
const tell = async (machine: Machine, before: Entry, notice: string, holding: Holding): Promise<void> => {
  const { home } = machine
  let isClosed = !isKept(home, before) // of a session that is concluded nothing is kept
  if (await queue(machine, entryNow(home, before)?.thread ?? before.thread!, notice)) return
  const told = entryNow(home, before)?.told
  if (told !== undefined) isNoted(home, before, before.told)
  for (let wait = FIRST_PAUSE_MS; ; wait = Math.min(wait * 2, LONGEST_PAUSE_MS)) {
    await sleep(wait, undefined, { signal: holding.signal }).catch(() => {})
    if (holding.signal.aborted) return
    const now = entryNow(home, before)
    const peek = now && (await peekNow(now, holding))
    if (!isClosed && !isKept(home, before)) return
    if (peek === 'refused') return // the next peek that is held sees to it, and tells of the message once the hub takes the team again
    isClosed ||= peek?.closed === true
    if (isClosed) dropEntry(home, before)
    const isRead = peek !== undefined && (isClosed ? peek.unread : left(peek, holding)) === 0
    if (isRead || (await queue(machine, now?.thread ?? before.thread!, notice))) return void isNoted(home, before, told)
    if (isClosed && wait >= LAST_PAUSE_MS) return
  }
}

// Returns false where a full disk keeps no note: the message may be told twice then.
const isNoted = (home: string, of: Entry, told: number | undefined): boolean => {
  const now = entryNow(home, of)
  try {
    if (now) keepEntry(home, { ...now, told })
    return true
  } catch (error) {
    if (!(error instanceof Stop)) throw error
    return false
  }
}

// No shell: the thread is a UUID, and the notice holds counts and handles. As npm installs it, codex starts another program: both are in one
// group, so that a call that takes too long leaves neither behind.
const queue = (machine: Machine, thread: string, notice: string): Promise<boolean> =>
  new Promise((resolve) => {
    const child = spawn('codex', ['queue', '--thread', thread, '--message', notice], {
      stdio: 'ignore',
      detached: true,
      env: machine.env as NodeJS.ProcessEnv,
    })
    const late = setTimeout(() => endGroup(child.pid!), QUEUED_WITHIN_MS)
    const ended = (why?: string) => {
      clearTimeout(late)
      if (why !== undefined) machine.err.write(`Parley: codex queue failed (${why}).\n`)
      resolve(why === undefined)
    }
    child.once('error', (error) => ended(error.message))
    child.once('close', (code, signal) => ended(code === 0 ? undefined : signal === null ? `code ${code}` : `ended by ${signal}`))
  })

const endGroup = (leader: number): void => {
  try {
    process.kill(-leader, 'SIGKILL')
  } catch {
    // The group has ended in this moment.
  }
}
