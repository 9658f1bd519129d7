import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { cutText, fitting, jsonLength, pagesWithin, pageWithin, rowWithin } from '../../src/core/budget.ts'

const text = fc.string({ unit: 'grapheme', maxLength: 300 })
const limit = fc.integer({ min: 4, max: 400 })

describe('a budget', () => {
  test('a text is cut to the longest beginning that fits, never through a character', () => {
    fc.assert(
      fc.property(text, limit, (whole, most) => {
        const cut = cutText(whole, most)
        expect(jsonLength(cut)).toBeLessThanOrEqual(most)
        if (jsonLength(whole) <= most) return expect(cut).toBe(whole)
        const kept = cut.slice(0, -1)
        expect(cut).toEndWith('…')
        expect(whole.startsWith(kept) && kept.isWellFormed() === whole.isWellFormed()).toBe(true)
        expect(jsonLength(whole.slice(0, kept.length + 2)) + 1).toBeGreaterThan(most)
      }),
      { seed: 7 },
    )
  })

  test('pages share what there is: small ones are whole, and none of the others could have more', () => {
    const page = fc.record({ events: fc.array(fc.record({ text }), { minLength: 1 }), hasMore: fc.boolean() })
    const bytes = (events: object[]) => events.reduce((sum, event) => sum + Buffer.byteLength(JSON.stringify(event)) + 1, 0)
    fc.assert(
      fc.property(fc.array(page, { maxLength: 8 }), fc.integer({ min: 100, max: 5_000 }), (pages, most) => {
        const kept = pagesWithin(pages, most)
        const beyondOne = kept.filter(({ events }) => events.length > 1)
        expect(bytes(beyondOne.flatMap(({ events }) => events))).toBeLessThanOrEqual(most)
        for (const [i, { events, hasMore }] of kept.entries()) {
          const whole = pages[i]!.events
          expect(events.length).toBeGreaterThan(0)
          expect(events).toEqual(whole.slice(0, events.length))
          expect(hasMore).toBe(pages[i]!.hasMore || events.length < whole.length)
          if (events.length < whole.length) expect(bytes(whole.slice(0, events.length + 1))).toBeGreaterThan(most / pages.length)
        }
      }),
      { seed: 7 },
    )
  })

  test('rows are kept as long as their list fits', () => {
    fc.assert(
      fc.property(fc.array(text), limit, (rows, most) => {
        const kept = fitting(rows, most)
        expect(kept).toEqual(rows.slice(0, kept.length))
        if (kept.length > 0) expect(jsonLength(kept)).toBeLessThanOrEqual(most)
        if (kept.length < rows.length) expect(jsonLength(rows.slice(0, kept.length + 1))).toBeGreaterThan(most)
      }),
      { seed: 7 },
    )
  })

  test('a row loses of its long texts, at any depth, and tells how long they were', () => {
    const row = { id: crypto.randomUUID(), at: '2026-11-22T05:47:37.000Z', n: 7, none: null, deep: { list: ['x'.repeat(900), 'y'] } }
    expect(rowWithin(row, 5_000)).toBe(row)
    const cut = rowWithin(row, 300)
    expect(jsonLength(cut)).toBeLessThanOrEqual(300)
    expect(cut).toMatchObject({ id: row.id, at: row.at, n: 7, none: null, truncated: { chars: 900 } })
    expect(cut.deep.list[0]).toMatch(/^x{40,}…$/)
    expect(cut.deep.list[1]).toBe('y')
  })

  test('a row loses of its long lists, at any depth, and tells how many entries of each', () => {
    const row = { id: 'm', to: ['a'], deep: { list: Array.from({ length: 90 }, (_, n) => ({ n })) } }
    const cut = rowWithin(row, 300)
    expect(jsonLength(cut)).toBeLessThanOrEqual(300)
    expect(cut.deep.list.length).toBeGreaterThan(5)
    expect(cut.deep.list).toEqual(row.deep.list.slice(0, cut.deep.list.length))
    expect(cut).toMatchObject({ to: ['a'], truncated: { chars: 1, omitted: { deep: 90 - cut.deep.list.length } } })
    expect(cut.truncated!.omitted).not.toHaveProperty('to')
  })

  test('what a row of many values has beyond its limit is looked at a few times, and not at each step', () => {
    let reads = 0
    const counted = () => ({
      get n() {
        reads++
        return 1
      },
    })
    const list = Array.from({ length: 20_000 }, counted)
    const fields = Object.fromEntries(list.map((value, n) => [`f${n}`, value]))
    const cut = rowWithin({ id: 'm', content: { list, name: 'kept' } }, 2_000)
    expect(jsonLength(cut)).toBeLessThanOrEqual(2_000)
    expect(cut.content).toEqual({ list: list.slice(0, cut.content.list.length), name: 'kept' })
    expect(cut.truncated).toEqual({ chars: 4, omitted: { content: list.length - cut.content.list.length } })
    const { content, id, truncated } = rowWithin({ content: { fields, list: [[list]] }, id: 'm' }, 2_000)
    expect(reads).toBeLessThan(12 * list.length)
    expect(id).toBe('m')
    expect(truncated!.omitted!['content']).toBeGreaterThanOrEqual(2 * list.length - Object.keys(content.fields).length - 3)
  })

  test('a page keeps its beginning or its end, one row at least, and says that there is more', () => {
    const events = ['a', 'b', 'c'].map((id) => ({ id: id.repeat(30) }))
    expect(pageWithin({ events, hasMore: false }, undefined)).toEqual({ events, hasMore: false })
    expect(pageWithin({ events, hasMore: false }, 205)).toEqual({ events: events.slice(0, 2), hasMore: true })
    expect(pageWithin({ events, hasMore: false }, 205, 'end')).toEqual({ events: events.slice(1), hasMore: true })
    expect(pageWithin({ events, hasMore: true }, 1_000)).toEqual({ events, hasMore: true })
    expect(pageWithin({ events: [], hasMore: false }, 10)).toEqual({ events: [], hasMore: false })
    expect(pageWithin({ events, hasMore: false }, 10).events).toHaveLength(1)
  })
})
