// While a document that is made to be slow is rendered for a page, a hundred waits are woken.
//   FULL=1 bun test tests/faults/slow-documents.test.ts    ten documents, instead of one
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { slowness } from '../support/cpu.ts'
import { FULL } from '../support/full.ts'
import { WORST } from '../support/worst.ts'
import { openScene, watchTurns, type Scene } from './fuzz/scene.ts'
import { LOCAL } from './engines.ts'
import { call, numbers, openRoom, post, wait, type Room } from './rooms.ts'

const WAITS = 100
const TEAMS = 4 // a team holds 32 waits at the most
const DOCUMENTS = FULL ? 10 : 1
const WAKES = 2 // while it is rendered, at the least: there are ten, and one without a pause
const LONGEST_TURN_MS = 200 // of processor time: without a pause the document takes 300 ms of it
const MOST_CHARACTERS = 500_000 // a document has 512 KiB

let scene: Scene
let quiet: Room
beforeAll(async () => {
  scene = await openScene()
  quiet = await openRoom(LOCAL, TEAMS, scene.send)
}, 180_000)
afterAll(() => scene?.close())

const page = (room: Room) =>
  Promise.resolve(
    scene.send(new Request(`${LOCAL}/sessions/${room.session}`, { headers: { host: 'localhost', accept: 'text/html' } })),
  ).then((response) => response.text())

// Each is another text: one that was rendered before lies ready.
const slowDocument = async (n: number): Promise<Room> => {
  const room = await openRoom(LOCAL, 1, scene.send)
  const texts = Object.values(WORST)
  const content = `# Slow ${n}\n\n${[...texts.slice(n), ...texts.slice(0, n)].join(`\n\n${n}\n\n`).slice(0, MOST_CHARACTERS)}`
  const body = { content, expected_version: 0 }
  const { status } = await call(LOCAL, 'PUT', `/api/sessions/${room.session}/doc`, { team: room.teams[0]!, body, send: scene.send })
  expect(status).toBe(200)
  return room
}

test('a hundred waits are answered, again and again, before the page with the document is', async () => {
  await page(quiet) // the code of a page is compiled
  let newest = TEAMS - 1 // who joined
  for (const nth of numbers(DOCUMENTS)) {
    const slow = await slowDocument(nth)
    let rendered = false
    const watched = watchTurns()
    const rendering = page(slow).finally(() => (rendered = true))
    let wakes = 0
    while (!rendered) {
      const waits = numbers(WAITS).map((n) => wait(quiet, newest, { team: quiet.teams[n % TEAMS]!, timeout: 30, send: scene.send }))
      const { body } = await post(quiet, `after ${newest}`, { send: scene.send })
      for (const answer of await Promise.all(waits)) expect([answer.status, answer.body.next_cursor]).toEqual([200, body.cursor])
      newest = body.cursor
      if (!rendered) wakes++
    }
    const turnMs = watched.end()
    expect(await rendering).toContain(`Slow ${nth}`)
    console.log(`${wakes} wakes of ${WAITS} waits while a document was rendered; the longest turn took ${turnMs.toFixed(0)} ms`)
    expect(wakes).toBeGreaterThanOrEqual(WAKES)
    expect(turnMs).toBeLessThan(LONGEST_TURN_MS * slowness())
  }
}, 180_000)
