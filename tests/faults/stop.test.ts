// A server that stops answers everybody first, and loses nothing [R23].
//   FULL=1 bun test tests/faults/stop.test.ts    500 waits and 500 streams
import { describe, expect, test } from 'bun:test'
import { startServer } from '../support/server.ts'
import { databaseOf, HERE } from './engines.ts'
import { expectFaultless, type Entry } from './checker.ts'
import { acked, gauge, numbers, openRoom, post, readBy, readFeed, sent, until, type Frame, type Room } from './rooms.ts'
import { answerOn, dial, onFrames, requestText, type Line } from './sockets.ts'
import { whileBusy } from '../support/cpu.ts'
import { FULL } from '../support/full.ts'

const WAITS = FULL ? 500 : 100
const STREAMS = FULL ? 500 : 20
const TEAMS = 16 // a team holds 32 waits at the most
const LAST = TEAMS - 1 // each but the convener joined with an event

describe.each(HERE)('on %s', (engine) => {
  test('SIGTERM ends waits, streams and posters in good order, and the process with 0', async () => {
    const { environment, drop } = await databaseOf(engine)
    const server = await startServer(environment)
    try {
      const [busy, quiet] = [await openRoom(server.url, 4), await openRoom(server.url, TEAMS)]
      const waits = numbers(WAITS).map((n) => dial(server.port, waitText(quiet, quiet.teams[n % TEAMS]!)))
      const streams = numbers(STREAMS).map((n) => followed(server.port, n % 2 ? quiet : busy))
      const log: Entry[] = []
      const posters = busy.teams.map((team, n) => postUntilRefused(busy, team, n, log))
      await until(
        'all are held',
        30_000,
        async () => (await gauge(server.url, 'waits_held')) === WAITS && (await gauge(server.url, 'streams_open')) === STREAMS,
      )
      await Bun.sleep(200)
      process.kill(server.pid, 'SIGINT') // one Ctrl-C of `bun run start` may come twice
      const { code, ms } = await server.terminate()
      expect({ code, output: server.output().includes('"stopping"') || server.output().includes('stopping') }).toEqual({
        code: 0,
        output: true,
      })
      expect(ms).toBeLessThan(whileBusy(10_000))
      for (const line of waits) {
        expect(await line.ended(10_000)).toBe(true)
        expect(answerOn(line)).toEqual({
          status: 200,
          body: { messages: [], next_cursor: LAST, doc_version: 0, session_closed: false, has_more: false },
        })
      }
      for (const { line, statuses, frames } of streams) {
        expect(await line.ended(10_000)).toBe(true)
        expect(statuses).toEqual([200])
        expect(frames.at(-1)).toEqual({ event: 'bye', retry: expect.stringMatching(/^\d+$/), data: '{}' })
      }
      expect(new Set(streams.map(({ frames }) => frames.at(-1)!.retry)).size).toBeGreaterThan(STREAMS / 5)
      await Promise.all(posters)
      await server.restart()
      expectFaultless([...log, readBy('the reader', await readFeed(busy))])
      const acknowledged = log.filter(({ op }) => op === 'ack').length
      expect(acknowledged).toBeGreaterThan(0)
      console.log(`${engine}: stopped after ${ms.toFixed(0)} ms, ${acknowledged} acknowledged before`)
    } finally {
      await server.remove()
      await drop()
    }
  }, 180_000)
})

const waitText = ({ session }: Room, team: string) =>
  requestText('GET', `/api/sessions/${session}/wait?since_cursor=${LAST}&timeout=30`, { 'x-team-id': team })

const followed = (port: number, { session }: Room): { line: Line; statuses: number[]; frames: Frame[] } => {
  const line = dial(port, requestText('GET', `/api/sessions/${session}/stream`, {}))
  const statuses: number[] = []
  const frames: Frame[] = []
  onFrames(
    line,
    (status) => void statuses.push(status),
    (frame) => void frames.push(frame),
  )
  return { line, statuses, frames }
}

const postUntilRefused = async (room: Room, team: string, n: number, log: Entry[]) => {
  for (let count = 0; ; count++) {
    const text = `${n}/${count}`
    log.push(sent(text))
    const answer = await post(room, text, { team }).catch(() => undefined)
    if (answer?.status !== 200) return
    log.push(acked(text, answer.body.cursor, `poster ${n}`))
  }
}
