// All who follow a session lose their connection at once, again and again, while others post: each comes back with the last id that it has,
// and has every event once.
//   FULL=1 bun test tests/faults/storm.test.ts    200 streams that are cut ten times, instead of 40 that are cut twice
import { expect, test } from 'bun:test'
import { FULL } from '../support/full.ts'
import { thatCanBeCut } from '../support/proxy.ts'
import { startServer } from '../support/server.ts'
import { expectFaultless, type Entry } from './checker.ts'
import { databaseOf } from './engines.ts'
import { acked, frames, openRoom, post, readBy, until, type Answer, type Item, type Room } from './rooms.ts'

const STREAMS = FULL ? 200 : 40 // one process opens no more than 256 at a time by fetch
const CUTS = FULL ? 10 : 2
const BETWEEN_CUTS = 20 // posts
const ALL_BACK_WITHIN_MS = 120_000 // for what hangs

/** Follows the stream over all cuts, until `last` was seen. */
const followOn = async (room: Room, reader: string, last: number, connections: { made: number }): Promise<Entry[]> => {
  const reads: Entry[] = []
  for (let since = 0; since < last;) {
    const items: Item[] = []
    const headers: Record<string, string> = since > 0 ? { 'last-event-id': String(since) } : {}
    try {
      const response = await fetch(`${room.url}/api/sessions/${room.session}/stream`, { headers })
      connections.made++
      for await (const { id, data } of frames(response.body!)) {
        if (id === undefined) continue
        items.push(JSON.parse(data!))
        if (Number(id) >= last) break
      }
    } catch {
      await Bun.sleep(Math.random() * 50) // the network is away
    }
    reads.push({ ...readBy(reader, items), since })
    since = Math.max(since, ...items.map(({ sequence }) => sequence))
  }
  return reads
}

test('streams that are all cut at once, again and again, come back and miss and repeat nothing', async () => {
  const { environment, drop } = await databaseOf('postgres')
  const server = await startServer(environment)
  const network = await thatCanBeCut(server.url)
  try {
    const room = await openRoom(server.url)
    const last = 1 + (CUTS + 1) * BETWEEN_CUTS
    const connections = { made: 0 }
    const away = { ...room, url: network.url }
    const following = Promise.all(Array.from({ length: STREAMS }, (_, n) => followOn(away, `reader ${n}`, last, connections)))
    const log: Entry[] = []
    const post20 = async () => {
      for (let n = 0; n < BETWEEN_CUTS; n++) {
        const text = `number ${log.length}`
        let answer: Answer | undefined
        while (answer?.status !== 200) {
          answer = await post(room, text, { key: `key ${text}` }) // again after a 503, on a busy machine
          expect([200, 503]).toContain(answer.status)
        }
        log.push(acked(text, answer.body.cursor, 'the poster'))
      }
    }
    const allCame = (times: number) => until('all follow', ALL_BACK_WITHIN_MS, () => connections.made >= STREAMS * times)
    await allCame(1)
    for (let cut = 0; cut < CUTS; cut++) {
      const posting = post20()
      network.cut()
      await Bun.sleep(50)
      network.heal()
      await posting
      await allCame(cut + 2)
    }
    await post20()
    const reads = (await following).flat()
    expectFaultless([...log, ...reads])
    expect(reads.reduce((sum, read) => sum + (read.op === 'read' ? read.events.length : 0), 0)).toBe(STREAMS * last)
    expect(connections.made).toBeGreaterThanOrEqual(STREAMS * (CUTS + 1))
    console.log(`${STREAMS} streams over ${CUTS} cuts: ${STREAMS * last} events, ${connections.made} connections`)
  } finally {
    await network.close()
    await server.remove()
    await drop()
  }
}, 900_000)
