// All who follow a session lose their connection at once, again and again, while others post: each comes back when it was told to, with the
// last id that it has, and has every event once.
//   FULL=1 bun test tests/faults/storm.test.ts    2,000 streams that are cut ten times, instead of 40 that are cut twice
import { expect, test } from 'bun:test'
import { whileBusy } from '../support/cpu.ts'
import { FULL } from '../support/full.ts'
import { expectFaultless, type Entry } from './checker.ts'
import { databaseOf, serverOn } from './engines.ts'
import { acked, openRoom, post, readBy, until, type Answer, type Item, type Room } from './rooms.ts'
import { dial, onFrames, requestText, type Line } from './sockets.ts'

const STREAMS = FULL ? 2_000 : 40
const CUTS = FULL ? 10 : 2
const BETWEEN_CUTS = 20 // posts, 50 a second
const ALL_BACK_WITHIN_MS = 10_000
const FIRST_WITHIN_MS = 120_000 // for what hangs

interface Reader {
  /** Its connection now; it is destroyed from outside. */
  line: Line | undefined
  connections: number
  /** What each connection brought. */
  reads: Extract<Entry, { op: 'read' }>[]
  over: Promise<void>
}

/** Follows the stream over all cuts, until `last` was seen. */
const follower = (port: number, room: Room, name: string, last: number): Reader => {
  const reader: Reader = { line: undefined, connections: 0, reads: [], over: Promise.resolve() }
  const followOn = async () => {
    let retryMs = 1_000 // until it is told
    for (let since = 0; since < last;) {
      const items: Item[] = []
      const headers: Record<string, string> = since > 0 ? { 'last-event-id': String(since) } : {}
      const line = dial(port, requestText('GET', `/api/sessions/${room.session}/stream`, headers))
      reader.line = line
      onFrames(
        line,
        (status) => void (reader.connections += Number(status === 200)),
        ({ id, data, retry }) => {
          if (retry !== undefined) retryMs = Number(retry)
          if (id === undefined) return
          items.push(JSON.parse(data!))
          if (Number(id) >= last) line.socket.destroy()
        },
      )
      expect(await line.ended(FIRST_WITHIN_MS)).toBe(true)
      reader.reads.push({ ...readBy(name, items, room.session), since })
      since = Math.max(since, ...items.map(({ sequence }) => sequence))
      if (since < last) await Bun.sleep(retryMs)
    }
  }
  reader.over = followOn()
  return reader
}

test('streams that are all cut at once, again and again, come back and miss and repeat nothing', async () => {
  const { environment, drop } = await databaseOf('postgres')
  const server = await serverOn(environment)
  try {
    const room = await openRoom(server.url)
    const last = 1 + (CUTS + 1) * BETWEEN_CUTS
    const readers = Array.from({ length: STREAMS }, (_, n) => follower(server.port, room, `reader ${n}`, last))
    const log: Entry[] = []
    const post20 = async () => {
      for (let n = 0; n < BETWEEN_CUTS; n++) {
        const text = `number ${log.length}`
        let answer: Answer | undefined
        while (answer?.status !== 200) {
          answer = await post(room, text, { key: `key ${text}` }) // again after a 503, on a busy machine
          expect([200, 503]).toContain(answer.status)
        }
        log.push(acked(text, answer.body.cursor, 'the poster', room.session))
        await Bun.sleep(20)
      }
    }
    const allCame = (times: number, withinMs: number) =>
      until('all follow', withinMs, () => readers.every(({ connections }) => connections >= times))
    await allCame(1, FIRST_WITHIN_MS)
    let slowest = 0
    for (let cut = 0; cut < CUTS; cut++) {
      const posting = post20()
      for (const { line } of readers) line!.socket.destroy()
      slowest = Math.max(slowest, await allCame(cut + 2, whileBusy(ALL_BACK_WITHIN_MS)))
      await posting
    }
    await post20()
    await Promise.all(readers.map(({ over }) => over))
    const reads = readers.flatMap((reader) => reader.reads)
    expectFaultless([...log, ...reads])
    expect(reads.reduce((sum, { events }) => sum + events.length, 0)).toBe(STREAMS * last)
    expect(readers.map(({ connections }) => connections)).toEqual(Array(STREAMS).fill(CUTS + 1))
    console.log(`${STREAMS} streams over ${CUTS} cuts: ${STREAMS * last} events, all back after ${slowest.toFixed(0)} ms at most`)
  } finally {
    await server.remove()
    await drop()
  }
}, 900_000)
