// What instances that share a Postgres say to each other, heard and spoken here by a stranger on the same channel.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import postgres from 'postgres'
import { CHANNEL } from '../../db/database.ts'
import { Appender } from '../../src/log/group-commit.ts'
import { chat, done, room, say, soon, startParley, viaRest, type Parley } from '../support/parley.ts'

let parley: Parley
let stranger: postgres.Sql
const heard: string[] = []
const ourId = () => parley.services.instance!
const fromUs = (what: RegExp) => heard.filter((payload) => payload.startsWith(`${ourId()}|`) && what.test(payload.split('|')[1]!))
const speak = (what: string) => stranger.notify(CHANNEL, `stranger|${what}|0/0`)

beforeAll(async () => {
  parley = await startParley({ engine: 'postgres' })
  stranger = postgres(parley.url!, { max: 2, onnotice() {} })
  await stranger.listen(CHANNEL, (payload) => void heard.push(payload))
}, 60_000)
afterAll(async () => {
  await stranger?.end({ timeout: 1 })
  await parley?.close()
}, 30_000)

test('an instance that says hello is answered, and is told of posts from then on', async () => {
  const { id, alex } = await room(viaRest(parley))
  expect(fromUs(/^here$/)).toEqual([])
  await speak('hello')
  await soon('it is answered', () => fromUs(/^here$/).length === 1)
  const { cursor } = await say(alex, 'Who is there?')
  await soon('it is told', () => fromUs(new RegExp(`${id}:${cursor}`)).length > 0)
})

test('what another instance says that it has written wakes those who wait here, long before the sweep', async () => {
  const { id, alex, bea } = await room(viaRest(parley))
  const { last_sequence: cursor } = await done(alex('get_session'))
  const waiting = done(bea('wait_for_messages', { since_cursor: cursor, timeout: 20 }))
  await soon('it waits', () => parley.services.waits.held === 1)
  const elsewhere = new Appender(parley.database, () => {}) // as in another process: nobody here hears of it
  await elsewhere.post(chat(id, alex.handle, 'from elsewhere'))
  const from = performance.now()
  await speak(`${id}:${cursor + 1}`)
  const { messages } = await waiting
  expect(messages.map(({ content }: { content: { text: string } }) => content.text)).toEqual(['from elsewhere'])
  expect(performance.now() - from).toBeLessThan(3_000) // the sweep comes after 4.5 s
})
