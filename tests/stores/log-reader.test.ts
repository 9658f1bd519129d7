// The loop behind waits and streams: it subscribes again before it reads, so that what lands during the read wakes it.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { LogReader } from '../../src/log/log-reader.ts'
import type { Services } from '../../src/process/services.ts'
import type { Page } from '../../src/stores/events.ts'
import { chat, done, leaveTrace, room, say, soon, startParley, viaRest, type Parley } from '../support/parley.ts'

let parley: Parley
beforeAll(async () => void (parley = await startParley()))
afterAll(() => parley?.close())

test('an event that is committed while the one before it is being read wakes the next wait', async () => {
  const { id, alex } = await room(viaRest(parley))
  const { services } = parley
  const say = (text: string) => services.groupCommit.post(chat(id, alex.handle, text))
  // The read of "first" takes until "second" is committed and everybody has been woken for it.
  let reads = 0
  const slowToRead: Services = {
    ...services,
    eventsAfter: async (...args) => {
      const page = await services.eventsAfter(...args)
      if (++reads === 1) await say('second')
      return page
    },
  }
  const { last_sequence: newest } = await done(alex('get_session'))
  const reader = new LogReader(slowToRead, id, newest, false, { newest })
  const textsOf = ({ events }: Page) => events.map((event) => (event as unknown as { content: { text: string } }).content.text)
  try {
    const first = reader.next(5_000)
    await say('first')
    expect(textsOf(await first)).toEqual(['first'])
    expect(textsOf(await reader.next(1_000))).toEqual(['second'])
  } finally {
    reader.close()
  }
})

test('what an agent prints is not read again and again by who reads without it, until all that is known is in doubt', async () => {
  const { id, alex } = await room(viaRest(parley))
  const { services } = parley
  const from: number[] = []
  const counting: Services = { ...services, eventsAfter: (...args) => (from.push(args[1]), services.eventsAfter(...args)) }
  const { last_sequence: newest } = await done(alex('get_session'))
  const reader = new LogReader(counting, id, newest, false, { newest })
  try {
    const next = reader.next(20_000)
    for (let n = 1; n <= 3; n++) {
      await leaveTrace(parley, id, 'tool_call', `line ${n}`)
      await soon('it has read', () => from.length === n)
    }
    expect(from).toEqual([newest, newest + 1, newest + 2])
    services.waiters.resetAll()
    await soon('it has read anew', () => from.length === 4)
    expect([from[3], reader.cursor]).toEqual([newest, newest])
    await say(alex, 'said')
    expect((await next).events).toMatchObject([{ sequence: newest + 4 }])
  } finally {
    reader.close()
  }
})
