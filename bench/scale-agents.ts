// The agents of bench/scale.ts, in a process of their own: each holds a wait over a connection of its own and checks that it is handed each
// message of its session once, in order. A session's agents are all in one process, so that one clock times a post and its wakes.
import { random } from '../tests/support/random.ts'
import { requestText } from './client.ts'
import { openConnection, type Connection } from './connection.ts'
import { history } from './corpus.ts'
import { percentile } from './support.ts'

export interface Seat {
  url: string // of its instance
  session: string
  token: string
  cursor: number
}

export type Command = { seats: Seat[] } | { perSecond: number; seconds: number } | { end: true }

/** What became of the posts of one phase. */
export interface Report {
  posted: number
  refused: number // posts that were not answered with 200, or not at all
  here: number[] // ms from a post's request to an answer that has it, for agents at the instance that took the post
  there: number[] // the same, at the other instance
  lost: number // deliveries that did not come
  disordered: number // messages that came twice, or not in their order
  brokenWaits: number // waits that were not answered with 200, and connections that were closed
  lagMs: number // p99 of how late posts were sent by these processes themselves
  cpuSeconds: number // of this process
}

const TICK_MS = 4
const PATIENCE_MS = 15_000 // for the last answers, and then for the last deliveries
const FRESH_MS = 8_000 // a poster's connection that has been idle for longer is not used again: the server closes it after 12 s
const TEXTS = 500
const CHARS = 280 // of a message

interface Sent {
  at: number
  url: string
  left: number // agents that have not been handed it yet
}

const sent = new Map<number, Sent>()
const rnd = random(process.pid)
let report: Report

const freshReport = (): Report => ({
  posted: 0,
  refused: 0,
  here: [],
  there: [],
  lost: 0,
  disordered: 0,
  brokenWaits: 0,
  lagMs: 0,
  cpuSeconds: 0,
})

// Two decimals, so that a million of them are not long to send.
const since = (at: number) => Math.round((performance.now() - at) * 100) / 100

class Agent {
  #connection!: Connection
  #cursor: number

  constructor(readonly seat: Seat) {
    this.#cursor = seat.cursor
  }

  async begin() {
    const lost = () => void report.brokenWaits++
    this.#connection = await openConnection(new URL(this.seat.url), (status, body) => this.#answered(status, body), lost)
    this.#wait()
  }

  end() {
    this.#connection.end()
  }

  #wait() {
    const { url, session, token } = this.seat
    const path = `/api/sessions/${session}/wait?since_cursor=${this.#cursor}`
    this.#connection.send(`GET ${path} HTTP/1.1\r\nhost: ${new URL(url).host}\r\nx-team-id: ${token}\r\n\r\n`)
  }

  #answered(status: number, body: string) {
    if (status !== 200) {
      report.brokenWaits++
      setTimeout(() => this.#wait(), 1_000)
      return
    }
    for (const { sequence, type, content } of JSON.parse(body).messages) {
      if (sequence !== this.#cursor + 1) report.disordered++
      this.#cursor = sequence
      if (type === 'chat') this.#handed(Number.parseInt(content.text, 10))
    }
    this.#wait()
  }

  #handed(message: number) {
    const post = sent.get(message)
    if (!post) return void report.disordered++
    const wakes = post.url === this.seat.url ? report.here : report.there
    wakes.push(since(post.at))
    if (--post.left === 0) sent.delete(message)
  }
}

// A post goes over any connection to its instance that is free, the last one that became so first.
class Posters {
  #free: Poster[] = []

  constructor(readonly url: URL) {}

  /** Resolves to the status of the answer; 0: the connection was closed. */
  async post(request: string, onSent: () => void): Promise<number> {
    const poster = this.#fresh() ?? (await this.#open())
    onSent()
    const status = await poster.send(request)
    poster.idleSince = performance.now()
    if (status !== 0) this.#free.push(poster)
    return status
  }

  // Those that lie below it have been idle for longer.
  #fresh(): Poster | undefined {
    const poster = this.#free.pop()
    if (!poster || performance.now() - poster.idleSince < FRESH_MS) return poster
    for (const { end } of [poster, ...this.#free.splice(0)]) end()
    return undefined
  }

  async #open(): Promise<Poster> {
    let answered = (_: number) => {}
    const connection = await openConnection(
      this.url,
      (status) => answered(status),
      () => answered(0),
    )
    const send = (request: string) =>
      new Promise<number>((resolve) => {
        answered = resolve
        connection.send(request)
      })
    return { send, end: connection.end, idleSince: 0 }
  }
}

interface Poster {
  send(request: string): Promise<number>
  end(): void
  idleSince: number // by performance.now()
}

let agents: Agent[] = []
let seats: Seat[] = []
let bySession = new Map<string, number>()
let posters = new Map<string, Posters>()
let texts: string[] = []
let numbered = 0

const hold = async (given: Seat[]) => {
  report = freshReport()
  seats = given
  bySession = new Map()
  for (const { session } of seats) bySession.set(session, (bySession.get(session) ?? 0) + 1)
  posters = new Map([...new Set(seats.map(({ url }) => url))].map((url) => [url, new Posters(new URL(url))]))
  if (texts.length === 0) texts = [...history(TEXTS)].map(({ text }) => text.slice(0, CHARS))
  agents = seats.map((seat) => new Agent(seat))
  for (let begun = 0; begun < agents.length; begun += 100) await Promise.all(agents.slice(begun, begun + 100).map((agent) => agent.begin()))
}

const postOn = async (perSecond: number, seconds: number): Promise<Report> => {
  report = freshReport()
  const before = process.cpuUsage()
  const lags: number[] = []
  const pending = new Set<Promise<void>>()
  const begin = performance.now()
  const all = Math.round(perSecond * seconds)
  for (let posted = 0; posted < all; await Bun.sleep(TICK_MS)) {
    const due = Math.min(all, ((performance.now() - begin) / 1000) * perSecond)
    for (; posted < due; posted++) {
      const post = postOne(begin + (posted * 1000) / perSecond, lags)
      pending.add(post)
      void post.finally(() => pending.delete(post))
    }
  }
  const { user, system } = process.cpuUsage(before)
  await patiently(() => pending.size === 0)
  report.refused += pending.size
  await patiently(() => sent.size === 0)
  for (const { left } of sent.values()) report.lost += left
  sent.clear()
  return { ...report, lagMs: lags.length > 0 ? percentile(lags, 0.99) : 0, cpuSeconds: (user + system) / 1e6 }
}

const patiently = async (isOver: () => boolean) => {
  const until = performance.now() + PATIENCE_MS
  while (!isOver() && performance.now() < until) await Bun.sleep(20)
}

const postOne = async (due: number, lags: number[]) => {
  const seat = seats[Math.floor(rnd() * seats.length)]!
  const message = numbered++
  const text = `${message} ${texts[Math.floor(rnd() * texts.length)]!}`
  const request = requestText(
    {
      method: 'POST',
      path: `/api/sessions/${seat.session}/messages`,
      headers: { 'x-team-id': seat.token },
      body: JSON.stringify({ content: text }),
    },
    new URL(seat.url).host,
  )
  const status = await posters.get(seat.url)!.post(request, () => {
    const at = performance.now()
    lags.push(at - due)
    sent.set(message, { at, url: seat.url, left: bySession.get(seat.session)! })
  })
  report.posted++
  if (status === 200) return
  report.refused++
  sent.delete(message)
}

const obey = async (command: Command): Promise<unknown> => {
  if ('seats' in command) return hold(command.seats)
  if ('perSecond' in command) return postOn(command.perSecond, command.seconds)
  for (const agent of agents) agent.end()
  return undefined
}

if (import.meta.main) {
  process.on('message', async (command: Command) => process.send!({ done: (await obey(command)) ?? null }))
  process.on('disconnect', () => process.exit(0))
}
