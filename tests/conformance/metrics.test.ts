import { describe, expect, test } from 'bun:test'
import { Metrics } from '../../src/core/runtime/metrics.ts'
import { done, onOneEngine, room, say, viaMcp, viaRest } from '../support/parley.ts'
import { figureIn, samplesOf } from '../support/metrics.ts'

onOneEngine((parley) => {
  const metrics = async () => (await parley().send('/metrics')).text()
  const figure = async (name: string) => figureIn(await metrics(), name)

  test('is Prometheus’ text: each sample belongs to a declared type, buckets are cumulative and end with the count', async () => {
    const { alex, bea } = await room(viaRest(parley()))
    await say(alex, 'A post.')
    await done(bea('wait_for_messages', { since_cursor: 0, timeout: 0 }))
    const response = await parley().send('/metrics')
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    const samples = samplesOf(await response.text()) // throws for what is no sample of a declared type
    expect(samples.filter(({ name }) => !name.startsWith('parley_'))).toEqual([])
    for (const name of ['parley_wake_seconds', 'parley_post_seconds', 'parley_search_seconds']) {
      const buckets = samples.filter((sample) => sample.name === `${name}_bucket`)
      const counts = buckets.map(({ value }) => value)
      expect(counts).toEqual(counts.toSorted((a, b) => a - b))
      expect(buckets.map(({ labels }) => labels.le!.replace('+Inf', 'Infinity')).map(Number)).toEqual([
        0.001,
        0.0025,
        0.005,
        0.01,
        0.025,
        0.05,
        0.1,
        0.25,
        0.5,
        1,
        2.5,
        5,
        Infinity,
      ])
      expect(counts.at(-1)).toBe(samples.find((sample) => sample.name === `${name}_count`)!.value)
    }
  })

  test('counts posts and searches, and how long they took', async () => {
    const { alex } = await room(viaRest(parley()))
    const before = await metrics()
    await say(alex, 'A post that is timed.')
    const found = await parley().send('/api/history/search_sessions', { body: JSON.stringify({ query: 'timed' }) })
    expect(found.status).toBe(200)
    const after = await metrics()
    for (const name of ['parley_post_seconds_count', 'parley_search_seconds_count'])
      expect(figureIn(after, name), name).toBe(figureIn(before, name) + 1)
    expect(figureIn(after, 'parley_post_seconds_sum')).toBeGreaterThan(figureIn(before, 'parley_post_seconds_sum'))
    expect(figureIn(after, 'parley_events_appended_total')).toBe(figureIn(before, 'parley_events_appended_total') + 1)
    const calls = 'parley_calls_total{operation="rooms.post_message",outcome="ok"}'
    expect(figureIn(after, calls)).toBeGreaterThanOrEqual(1)
  })

  describe.each([
    ['REST', viaRest],
    ['MCP', viaMcp],
  ] as const)('over %s', (_, via) => {
    test('times a wait that an event woke, and none that found one at once or ran out of time', async () => {
      const { alex, bea } = await room(via(parley()))
      const before = await figure('parley_wake_seconds_count')
      const { next_cursor } = await done(bea('wait_for_messages', { since_cursor: 0, timeout: 0 }))
      await done(bea('wait_for_messages', { since_cursor: next_cursor, timeout: 0.05 }))
      expect(await figure('parley_wake_seconds_count')).toBe(before)
      const held = done(bea('wait_for_messages', { since_cursor: next_cursor, timeout: 20 }))
      while ((await figure('parley_waits_held')) < 1) await Bun.sleep(5)
      await say(alex, 'Wake up.')
      expect((await held).messages).toHaveLength(1)
      expect(await figure('parley_wake_seconds_count')).toBe(before + 1)
    })

    test('counts the peeks that are held apart from the waits, the teams that they woke, and times these', async () => {
      const { alex, bea } = await room(via(parley()))
      const before = await metrics()
      await done(bea('peek', { timeout: 0.05 }))
      const held = done(bea('peek', { timeout: 20 }))
      while ((await figure('parley_peeks_held')) < 1) await Bun.sleep(5)
      expect(await figure('parley_waits_held')).toBe(0)
      await say(alex, 'Wake up.')
      expect((await held).wake).toBe(true)
      const after = await metrics()
      for (const name of ['parley_wake_seconds_count', 'parley_wakes_total{outcome="allowed"}'])
        expect(figureIn(after, name) - figureIn(before, name), name).toBe(1)
      expect(figureIn(after, 'parley_wakes_total{outcome="refused"}')).toBe(figureIn(before, 'parley_wakes_total{outcome="refused"}'))
    })
  })
})

test('a label’s value is escaped', async () => {
  const metrics = new Metrics()
  metrics.calls.inc({ operation: 'a"b\\c\nd', outcome: 'ok' })
  const [sample] = samplesOf(await metrics.text()).filter(({ name }) => name === 'parley_calls_total')
  expect(sample).toEqual({ name: 'parley_calls_total', labels: { operation: 'a"b\\c\nd', outcome: 'ok' }, value: 1 })
})
