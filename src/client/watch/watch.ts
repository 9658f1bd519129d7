// `watch`: what a client's hook runs when its agent has ended a turn. It holds a peek for each of the agent's teams at one hub; a message
// that may wake the agent ends it with code 2 and a line on standard error, which the client hands to the agent.
import { askConfig, noteHook, noteOf } from '../hub-notes.ts'
import type { WakeFor } from '../clients.ts'
import type { Machine } from '../machine.ts'
import { keptToken } from '../tokens.ts'
import { readHookInput } from './hook-input.ts'
import { holdPeek } from './hold.ts'
import { ancestorsOf, isRunning } from './processes.ts'
import { changedAt, entriesFor, entriesOf, entryNow, type Asker, type Entry } from './sessions.ts'
import { giveWatchBack, hasWatch, takeOver, takeWatch } from './turn.ts'

export const WAKES = 2 // the exit code that wakes a client's agent
const CHECK_EVERY_MS = 2_000

export interface WatchOptions {
  link: string
  wakeFor: WakeFor
}

/** Returns the exit code: WAKES, or 0 where there is nothing to watch any longer. */
export const watch = async (machine: Machine, options: WatchOptions): Promise<number> => {
  const { conversation, folder } = await readHookInput(machine)
  const asker = { ancestors: ancestorsOf(machine.pid), conversation, folder }
  const watching = new Watch(machine, options, asker)
  return watching.run()
}

class Watch {
  #over = new AbortController()
  #held = new Map<string, { entry: Entry; over: AbortController }>()
  #busy = new Set<string>()
  #seenAt = -1
  #notice: string | undefined
  #failed: unknown

  constructor(
    readonly machine: Machine,
    readonly options: WatchOptions,
    readonly asker: Asker,
  ) {}

  async run(): Promise<number> {
    const { home, pid, err } = this.machine
    try {
      this.#check()
      if (this.#held.size === 0) return 0
      void this.#note()
      await this.#untilOver()
      if (this.#failed) throw this.#failed
      if (this.#notice === undefined) return 0
      err.write(`${this.#notice}\n`)
      return WAKES
    } finally {
      for (const { entry } of this.#held.values()) giveWatchBack(home, entry, pid)
    }
  }

  // A full disk keeps no note.
  async #note() {
    const { home } = this.machine
    const { link } = this.options
    try {
      noteHook(home, link, new Date())
      await askConfig(home, { link, token: this.#token })
    } catch {}
  }

  get #token(): string | undefined {
    return keptToken(this.machine.home, this.options.link)
  }

  // An agent may join another session while this runs, and its client may end.
  #untilOver(): Promise<void> {
    const { signal } = this.#over
    const timer = setInterval(() => this.#again(), CHECK_EVERY_MS)
    return new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true })).finally(() =>
      clearInterval(timer),
    )
  }

  #again() {
    const [client] = this.asker.ancestors
    if (client && !isRunning(client)) return this.#end()
    const { home, pid } = this.machine
    for (const { entry, over } of this.#held.values()) if (!hasWatch(home, entry, pid)) over.abort()
    try {
      this.#check()
    } catch (error) {
      this.#end(error)
    }
  }

  // The client lets each watch wait for a week: that of the newest turn takes over what one of an earlier turn holds.
  #check() {
    const { home, pid, err } = this.machine
    const at = changedAt(home)
    if (at === this.#seenAt) return
    const isFirst = this.#seenAt < 0
    this.#seenAt = at
    if (this.#held.size > 0 && this.#wasDisconnected()) return this.#end()
    for (const entry of entriesFor(home, this.options.link, this.asker)) {
      if (this.#held.has(entry.team_id) || this.#busy.has(entry.team_id)) continue
      if (isFirst) takeOver(home, entry, pid)
      if (takeWatch(home, entry, pid)) void this.#hold(entry)
      else if (this.#busy.add(entry.team_id))
        err.write(`Parley: another watch of session ${entry.session_id} is running; this one leaves it.\n`)
    }
  }

  // What it watches was taken away.
  #wasDisconnected(): boolean {
    const there = new Set(entriesOf(this.machine.home).map(({ team_id }) => team_id))
    return ![...this.#held.keys()].some((team) => there.has(team))
  }

  async #hold(entry: Entry) {
    const { home, pid } = this.machine
    const over = new AbortController()
    const isOurs = () => hasWatch(home, entry, pid)
    this.#held.set(entry.team_id, { entry, over })
    try {
      const announced = () => noteOf(home, this.options.link).announced
      const addressedOnly = this.options.wakeFor === 'addressed'
      const signal = AbortSignal.any([this.#over.signal, over.signal])
      // The entry is read again: the watch before may just have told of a message.
      const notice = await holdPeek(entryNow(home, entry) ?? entry, {
        home,
        token: () => this.#token,
        addressedOnly,
        announced,
        signal,
        isOurs,
      })
      if (!isOurs()) this.#busy.add(entry.team_id)
      giveWatchBack(home, entry, pid)
      this.#held.delete(entry.team_id)
      if (notice !== undefined) this.#notice = this.#notice === undefined ? notice : `${this.#notice}\n${notice}`
      if (notice !== undefined || this.#held.size === 0) this.#end()
    } catch (error) {
      this.#end(error)
    }
  }

  #end(error?: unknown) {
    this.#failed ??= error
    this.#over.abort()
  }
}
