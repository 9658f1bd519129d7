// Where a page of a feed ends: at 500 events, or before the event that would carry it past 256 KiB, wherever it is read from.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { queriesOver } from '../../db/database.ts'
import { eventsAfter, eventsBefore, PAGE_BYTES, pageOf, type Event, type Page } from '../../src/stores/events.ts'
import { chat, done, room, startParley, viaRest, type Parley } from '../support/parley.ts'

let parley: Parley
beforeAll(async () => void (parley = await startParley()))
afterAll(() => parley?.close())

const AROUND = Buffer.byteLength(JSON.stringify({ text: '' }))
const ofBytes = (bytes: number) => 'x'.repeat(bytes - AROUND)
const sequences = ({ events }: Page) => events.map(({ sequence }) => sequence)

/** A session whose first event is followed by posts of these sizes, and the events as they are in memory. */
const feedOf = async (...sizes: number[]) => {
  const { id, alex } = await room(viaRest(parley))
  const { last_sequence: start } = await done(alex('get_session'))
  const events: Event[] = []
  for (const size of sizes) {
    const answer = await parley.services.groupCommit.post(chat(id, alex.handle, ofBytes(size)))
    if (answer.outcome === 'appended') events.push(answer.event)
  }
  return { id, start: start as number, events }
}

const QUARTER = PAGE_BYTES / 4

test('a page ends before the event that would cross the limit, and one that reaches it exactly is whole', async () => {
  const { id, start, events } = await feedOf(QUARTER, QUARTER, QUARTER, QUARTER, 20, QUARTER)
  const pages = [await eventsAfter(parley.database, id, start, false), pageOf(events)]
  for (const page of pages) {
    expect(sequences(page)).toEqual([1, 2, 3, 4].map((n) => start + n))
    expect(page.hasMore).toBe(true)
  }
  const rest = [await eventsAfter(parley.database, id, start + 4, false), pageOf(events.slice(4))]
  for (const page of rest) expect([sequences(page), page.hasMore]).toEqual([[start + 5, start + 6], false])
})

test('an event that would cross the limit by one byte begins the next page', async () => {
  const { id, start, events } = await feedOf(QUARTER, QUARTER, QUARTER, QUARTER + 1)
  for (const page of [await eventsAfter(parley.database, id, start, false), pageOf(events)])
    expect([sequences(page), page.hasMore]).toEqual([[1, 2, 3].map((n) => start + n), true])
  const before = await eventsBefore(parley.database, id, undefined, false, 3)
  expect([sequences(before), before.hasMore]).toEqual([[2, 3, 4].map((n) => start + n), true])
})

test('the first event is there, however large', async () => {
  const { id, start, events } = await feedOf(PAGE_BYTES + 100, 20)
  for (const page of [await eventsAfter(parley.database, id, start, false), pageOf(events)])
    expect([sequences(page), page.hasMore]).toEqual([[start + 1], true])
  const last = await eventsBefore(parley.database, id, start + 2, false, 5)
  expect([sequences(last), last.hasMore]).toEqual([[start + 1], true])
})

test('a page from memory has 500 events at the most', () => {
  const events = Array.from({ length: 501 }, (_, n) => ({ id: '', sequence: n + 1, type: 'chat', at: '', content: { text: '' } }))
  expect(pageOf(events)).toMatchObject({ hasMore: true, events: { length: 500 } })
  expect(pageOf(events.slice(1))).toMatchObject({ hasMore: false, events: { length: 500 } })
})

test('pages of whatever size make a handful of statements, of which each connection keeps every one', async () => {
  const { id, start } = await feedOf(...Array.from({ length: 30 }, () => 20))
  const texts = new Set<string>()
  const queries = queriesOver(async ({ text, params }) => (texts.add(text), parley.database.query(text, params)))
  for (let limit = 1; limit <= 500; limit += limit < 40 ? 1 : 20) {
    const page = await eventsBefore(queries, id, undefined, false, limit)
    const all = start + 30
    expect([page.events.length, page.events.at(-1)!.sequence, page.hasMore]).toEqual([Math.min(limit, all), all, limit < all])
  }
  expect(texts.size).toBeLessThan(5)
})
