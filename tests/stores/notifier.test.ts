// What instances that share a Postgres notify each other of, received and sent here by a stranger on the same channel.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import postgres from 'postgres'
import { CHANNEL } from '../../db/database.ts'
import { uuid7 } from '../../src/core/ids.ts'
import { decode, encode } from '../../src/log/notification.ts'
import { topicOf } from '../../src/log/topics.ts'
import { GroupCommit } from '../../src/log/group-commit.ts'
import { chat, NEVER_MS, done, room, say, soon, startParley, viaRest, type Parley } from '../support/parley.ts'

let parley: Parley
let stranger: postgres.Sql
const received: string[] = []
const ourId = () => parley.services.instance!
const fromUs = (what: RegExp) => received.filter((payload) => payload.startsWith(`${ourId()}|`) && what.test(payload.split('|')[1]!))
const send = (what: string) => stranger.notify(CHANNEL, `stranger|${what}|0/0`)

beforeAll(async () => {
  parley = await startParley({ engine: 'postgres', intervals: { sweep: NEVER_MS } })
  stranger = postgres(parley.url!, { max: 2, onnotice() {} })
  await stranger.listen(CHANNEL, (payload) => void received.push(payload))
}, 180_000)
afterAll(async () => {
  await stranger?.end({ timeout: 1 })
  await parley?.close()
}, 180_000)

test('an instance that says hello is answered, and is notified of posts from then on', async () => {
  const { id, alex } = await room(viaRest(parley))
  expect(fromUs(/^here$/)).toEqual([])
  await send('hello')
  await soon('it is answered', () => fromUs(/^here$/).length === 1)
  const { cursor } = await say(alex, 'Who is there?')
  await soon('it is notified', () => fromUs(new RegExp(`${id}:${cursor}`)).length > 0)
})

test('a notification of another instance wakes those who wait here, without a sweep', async () => {
  const { id, alex, bea } = await room(viaRest(parley))
  const { last_sequence: cursor } = await done(alex('get_session'))
  const waiting = done(bea('wait_for_messages', { since_cursor: cursor, timeout: 20 }))
  await soon('it waits', () => parley.services.waits.held === 1)
  const elsewhere = new GroupCommit(parley.database, () => {}) // as in another process: nobody here hears of it
  await elsewhere.post(chat(id, alex.handle, 'from elsewhere'))
  await send(`${id}:${cursor + 1}`)
  const { messages } = await waiting
  expect(messages.map(({ content }: { content: { text: string } }) => content.text)).toEqual(['from elsewhere'])
})

describe('topics that are no sessions', () => {
  test('a waiter is woken and a listener called when another instance publishes one', async () => {
    const other = await parley.beside({})
    const movedHere: [string, number][] = []
    parley.services.onTopic('demo', (id, newest) => void movedHere.push([id, newest]))
    const waiter = parley.services.waiters.subscribe(topicOf('demo', '1'))
    other.services.publishTopic(topicOf('demo', '1'), 7)
    await waiter.woken()
    waiter.unsubscribe()
    expect(movedHere).toEqual([['1', 7]])
  })

  test('an unknown kind, and what cannot be read, is ignored without a line in the log', async () => {
    const lines = parley.logged.length
    const { id, alex } = await room(viaRest(parley))
    const { last_sequence: newest } = await done(alex('get_session'))
    const waiter = parley.services.waiters.subscribe(id)
    await stranger.notify(CHANNEL, encode('stranger', 'here', { steady: 0, wall: 0 }, 'nobody-knows/1:3,no topic,:,demo/:1,demo/1:x'))
    await send('what a newer version says')
    await send(`${id}:${newest}`)
    await waiter.woken() // the notifications before this one were received too
    waiter.unsubscribe()
    await parley.services.indexer.run()
    expect(parley.logged.slice(lines).filter((line) => /"level":"(warn|error)"/.test(line))).toEqual([])
  })

  test('a session is notified of as older instances understand it, and any other topic only where they ignore it', async () => {
    const [id, at] = [uuid7(), { steady: 1, wall: 2 }]
    expect(decode(`older|${id}:5,${uuid7()}:6|1/2`)).toMatchObject({
      from: 'older',
      sent: at,
      moved: [
        [id, 5],
        [expect.any(String), 6],
      ],
      report: '',
    })
    expect(decode('older|settings|1/2')).toEqual({ from: 'older', message: 'settings', sent: at, moved: [], report: '' })
    expect(decode(encode('us', 'here', at, undefined, '{"a":"b|c"}'))).toMatchObject({ moved: [], report: '{"a":"b|c"}' })
    await send('hello') // there is somebody to notify
    await soon('a session goes out as uuid:n', () => {
      parley.services.publishTopic(id, 5)
      return received.some((payload) => payload.split('|')[1] === `${id}:5`)
    })
    parley.services.publishTopic(topicOf('demo', '2'), 3)
    await soon('a topic goes out behind "here"', () =>
      received.some((payload) => payload.split('|')[1] === 'here' && payload.split('|')[3] === 'demo/2:3'),
    )
  })

  test('no topic is made of text that a notification could not carry', () => {
    for (const [kind, id] of [
      ['demo', 'a|b'],
      ['demo', 'a:1'],
      ['demo', 'a,b'],
      ['demo', ''],
      ['De/mo', '1'],
    ] as const)
      expect(() => topicOf(kind, id)).toThrow()
  })
})
