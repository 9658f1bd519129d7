// What a task's CLI has printed and the hub has not taken yet: in order, each once. It is sent as soon as there is something, one request at
// a time, with a rest between them; while the hub is away it is kept, up to a limit that all tasks of the runner share. Past it the largest are
// cut; past twice as much the oldest are left out, with a line that says how many.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Content } from '../../core/events/event-text.ts'
import { isObject } from '../../core/text/json.ts'
import { Refused, type HubCalls } from './hub-calls.ts'
import { bytesOf, shrunk } from './shrink.ts'

export interface WireEvent {
  key: string
  type: string
  content: Content
  at?: string
  tool_name?: string
  model?: string
}

const MOST_EVENTS = 200 // of one request: the hub takes no more (control/runner/add-task-events.ts)
const MOST_BYTES = 1000 * 1024 // of one request, unless one event is larger: a proxy takes 1 MiB where nobody told it otherwise, the hub 4 MiB
// The rest after each request: REST times as long as the request took, so that an agent that prints without end leaves the hub to others
// for three quarters of the time; LONGEST_REST_MS at most, so that even a slow hub gets 2,000 events a second (bench/control.ts).
const REST = 3
const LONGEST_REST_MS = 50
const LEAST_KEPT = 512 // bytes to which a content is cut at most

interface Kept {
  json: string
  bytes: number
  /** In the place of so many that were left out. */
  instead?: number
}

/** What all tasks keep together. */
export class Store {
  bytes = 0
  readonly queues = new Set<Kept[]>()
  private next: number

  constructor(private readonly most = 64 * 1024 * 1024) {
    this.next = most
  }

  add(queue: Kept[], event: WireEvent) {
    const json = JSON.stringify(event)
    const kept = { json, bytes: Buffer.byteLength(json) }
    queue.push(kept)
    this.bytes += kept.bytes
    if (this.bytes > this.next) this.cutLargest()
    if (this.bytes > 2 * this.most) this.leaveOut()
  }

  /** Takes the first `count` out: the hub has them. */
  drop(queue: Kept[], count: number) {
    for (const { bytes } of queue.splice(0, count)) this.bytes -= bytes
    this.next = Math.max(this.most, Math.min(this.next, this.bytes))
  }

  replace(kept: Kept, event: WireEvent) {
    this.bytes -= kept.bytes
    kept.json = JSON.stringify(event)
    kept.bytes = Buffer.byteLength(kept.json)
    this.bytes += kept.bytes
  }

  // Cuts the largest events until all take three quarters of the limit, so that the queues are not sorted for each further event. Where all
  // are cut already, the next try comes after a further sixteenth.
  private cutLargest() {
    const all = [...this.queues].flat().toSorted((a, b) => b.bytes - a.bytes)
    for (const kept of all) {
      if (this.bytes <= this.most * 0.75 || kept.bytes <= 2 * LEAST_KEPT) break
      const event = JSON.parse(kept.json) as WireEvent
      this.replace(kept, { ...event, content: shrunk(event.content, LEAST_KEPT) })
    }
    this.next = Math.max(this.most, this.bytes + this.most / 16)
  }

  // Too many small ones: of the fullest queue the oldest go, but for those that may be on their way to the hub. Down to one and a half times
  // the limit, so that not each further event has all of them looked at.
  private leaveOut() {
    const queue = [...this.queues].reduce((a, b) => (b.length > a.length ? b : a))
    let [end, bytes] = [MOST_EVENTS, 0]
    while (end < queue.length - 1 && this.bytes - bytes > this.most * 1.5) bytes += queue[end++]!.bytes
    const left = queue.slice(MOST_EVENTS, end).reduce((sum, { instead = 1 }) => sum + instead, 0)
    if (left === 0) return
    const text = `${left} events are left out here: the hub was away, and the runner keeps no more of them.`
    const json = JSON.stringify({ key: `not-kept-${crypto.randomUUID()}`, type: 'runtime', content: { event: 'not_kept', text } })
    const line = { json, bytes: Buffer.byteLength(json), instead: left }
    queue.splice(MOST_EVENTS, end - MOST_EVENTS, line)
    this.bytes += line.bytes - bytes
  }
}

export interface Outbox {
  add(event: WireEvent): void
  /** Resolves once the hub has all that was added. Throws Refused where it takes no more of this task, or what `signal` aborts with. */
  drained(): Promise<void>
  /** Forgets what is left. */
  close(): void
}

/** `failed` is called once, when the hub refuses more of this task. */
export const newOutbox = (
  hub: HubCalls,
  store: Store,
  of: { runner_id: string; task_id: string },
  signal: AbortSignal,
  failed: (error: unknown) => void,
): Outbox => {
  const queue: Kept[] = []
  store.queues.add(queue)
  const head = JSON.stringify(of).slice(0, -1)
  let sending: Promise<void> | undefined
  let atMost = MOST_EVENTS
  let restsUntil = 0
  const send = async () => {
    for (let tries = 0; queue.length > 0;) {
      let count = 0
      const body = () => {
        count = fitting(queue, atMost)
        return `${head},"events":[${queue
          .slice(0, count)
          .map(({ json }) => json)
          .join(',')}]}`
      }
      const rest = restsUntil - performance.now()
      if (rest > 0) await sleep(rest)
      const begun = performance.now()
      try {
        await hub.ask('events', body, { signal })
        const answered = performance.now()
        restsUntil = answered + Math.min((answered - begun) * REST, LONGEST_REST_MS)
        store.drop(queue, count)
        ;[atMost, tries] = [MOST_EVENTS, 0]
      } catch (error) {
        if (!(error instanceof Refused) || (error.status !== 400 && error.status !== 413)) throw error
        // Something among them is not taken: found by halves, and told in its place, so that the rest arrives.
        if (count > 1) atMost = Math.ceil(count / 2)
        else if (tries < TRIES.length) smaller(queue[0]!, TRIES[tries++]!, error.message)
        else store.drop(queue, 1)
      }
    }
  }
  const smaller = (kept: Kept, most: number, why: string) => {
    const { key, type, content } = JSON.parse(kept.json) as WireEvent
    const note = { event: 'not_taken', text: `The hub did not take an event of the type ${type}: ${why}` }
    store.replace(
      kept,
      most === 0 ? { key, type: 'runtime', content: note } : { ...(JSON.parse(kept.json) as WireEvent), content: shrunk(content, most) },
    )
  }
  const start = () => {
    if (sending) return
    // What one chunk of the CLI's output holds goes into one request.
    sending = new Promise<void>((resolve) => setImmediate(resolve)).then(send).finally(() => (sending = undefined))
    sending.catch((error) => {
      close()
      failed(error)
    })
  }
  let closed = false
  const close = () => {
    closed = true
    store.drop(queue, queue.length)
    store.queues.delete(queue)
  }
  return {
    add(event) {
      if (closed) return
      store.add(queue, event)
      start()
    },
    async drained() {
      while (sending) await sending
    },
    close,
  }
}

// Bytes to which an event's content is cut, one after the other, while the hub refuses the event alone; 0: a line that says so replaces it.
const TRIES = [256 * 1024, 32 * 1024, 0]

const fitting = (queue: Kept[], atMost: number): number => {
  let [count, bytes] = [0, 0]
  while (count < queue.length && count < atMost && (count === 0 || bytes + queue[count]!.bytes <= MOST_BYTES))
    bytes += queue[count++]!.bytes
  return count
}

/** Small enough for any call. */
export const small = (content: unknown, most: number): unknown =>
  bytesOf(content) <= most ? content : isObject(content) ? shrunk(content, most) : shrunk({ text: JSON.stringify(content) }, most)
