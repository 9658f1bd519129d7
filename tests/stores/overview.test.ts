import { expect, test } from 'bun:test'
import { onOneEngine, room, say, viaRest } from '../support/parley.ts'
import { messageCounts, PULSE_PARTS, pulsesOf } from '../../src/stores/home-queries.ts'
import { sessionsWithDocs } from '../../src/stores/live-state.ts'

onOneEngine((parley) => {
  /** A session that began at noon, with an event at each of these `minutes` later. */
  const spoken = async (minutes: number[], closedAfter?: number) => {
    const { id, alex } = await room(viaRest(parley()))
    for (const _ of minutes.slice(1)) await say(alex, 'word') // Bea's joining was the first event
    const { query } = parley().database
    const noon = '2026-01-01T12:00:00Z'
    const after = (minute: number) => new Date(Date.parse(noon) + minute * 60_000).toISOString()
    await query('update sessions set created_at = $2, closed_at = $3 where id = $1', [
      id,
      noon,
      closedAfter === undefined ? null : after(closedAfter),
    ])
    for (const [i, minute] of minutes.entries())
      await query('update events set at = $3 where session_id = $1 and sequence = $2', [id, i + 1, after(minute)])
    return (await pulsesOf(parley().database, [id], after(100))).get(id)!
  }
  const pulses = (counts: Record<number, number>) => Array.from({ length: PULSE_PARTS }, (_, i) => counts[i] ?? 0)

  test('a short session shows each event in the part of its time in which it came', async () => {
    expect(await spoken([0, 1, 2, 51, 99, 100])).toEqual(pulses({ 0: 3, 10: 1, 19: 2 }))
  })

  test('the time of a concluded session ends with it, and a stray event later falls into the last part', async () => {
    expect(await spoken([0, 10, 19, 30], 20)).toEqual(pulses({ 0: 1, 10: 1, 19: 2 }))
  })

  test('of a long one as many are looked at as of one of sixty events, and its shape is the same', async () => {
    const early = Array.from({ length: 180 }, () => 2)
    const late = Array.from({ length: 60 }, () => 97)
    expect(await spoken([...early, ...late])).toEqual(pulses({ 0: 45, 19: 15 }))
  })

  test('what was said last is known by its place, its team and its time, the newest first', async () => {
    const { id, alex, bea } = await room(viaRest(parley()))
    await say(alex, 'word')
    await say(alex, 'word')
    await parley().database.query(`update events set at = '2026-01-01T12:00:00.120Z' where session_id = $1 and sequence = 3`, [id])
    const [watched] = await sessionsWithDocs(parley().database, [id], 30)
    expect(watched!.recent.map(([sequence, team, isMessage]) => [sequence, team, isMessage])).toEqual([
      [3, alex.handle, true],
      [2, alex.handle, true],
      [1, bea.handle, false], // her joining
    ])
    expect(watched!.recent[0]![3]).toBe('2026-01-01T12:00:00.120Z')
  })

  test('messages are counted, indexed or not, and again after the index is rebuilt', async () => {
    const { id, alex } = await room(viaRest(parley()))
    const { database, services } = parley()
    const counted = async () => {
      const [row] = await database.query<{ messages: number }>('select messages from session_index where session_id = $1', [id])
      return { indexed: row!.messages, all: (await messageCounts(database, [id])).get(id) }
    }
    await say(alex, 'word')
    await services.indexer.run()
    expect(await counted()).toEqual({ indexed: 1, all: 1 }) // Bea's joining is none
    await database.query('update session_index set indexed_sequence = 1, messages = 0 where session_id = $1', [id]) // as if it were behind
    expect(await counted()).toEqual({ indexed: 0, all: 1 })
    await services.indexer.rebuild(() => {})
    await say(alex, 'word')
    expect((await counted()).all).toBe(2)
    await services.indexer.run()
    expect(await counted()).toEqual({ indexed: 2, all: 2 })
  })

  test('a session without events has none', async () => {
    expect((await pulsesOf(parley().database, [crypto.randomUUID()], new Date().toISOString())).size).toBe(0)
    expect((await pulsesOf(parley().database, [], new Date().toISOString())).size).toBe(0)
  })
})
