import { expect, test } from 'bun:test'
import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { EventRow } from '../../components/session/event-row.tsx'
import { iconNamed } from '../../components/parts/icon.tsx'
import { eventKindsOf, eventLine, fromBeforeTo, type EventKind } from '../../src/core/events/event-kinds.ts'
import { feedItems } from '../../src/pages/session/feed-items.ts'
import { teamLookup } from '../../src/pages/session/team-lookup.ts'
import { eventKinds as recordKinds } from '../../src/records/event-kinds.ts'
import { eventKinds } from '../../src/rooms/event-kinds.ts'
import type { Event } from '../../src/stores/events.ts'
import { toolsets } from '../../src/toolsets.ts'

const planned: EventKind = {
  name: 'work_planned',
  fields: { by: 'who planned it', items: 'the items' },
  summary: 'there is work to take',
  icon: 'pencil',
  words: ({ items }) => `planned ${String(items)} items`,
  link: (_, session) => `/sessions/${session}/work`,
}
const kinds = eventKindsOf([{ eventKinds }, { eventKinds: [planned] }, {}])

const rowOf = (fields: Record<string, unknown>) => {
  const event = { id: 'x', sequence: 7, type: 'system', at: '2026-04-29T12:00:00Z', ...fields } as Event
  const context = {
    sessionId: 's',
    teams: teamLookup([]),
    kinds,
    guest: false,
    answered: new Map(),
    questions: new Map(),
    linesOf: () => undefined,
    tasks: new Map(),
    requests: new Map(),
    proposals: new Map(),
  }
  const [item] = feedItems([{ event }], { event: undefined, edits: [] }, context)
  return item?.kind === 'event' ? renderToStaticMarkup(createElement(EventRow, { item })) : ''
}

test('a kind that a toolset brings has its words, icon and link in the feed', () => {
  const html = rowOf({ event: 'work_planned', by: 'Robin', items: 3 })
  expect(html).toContain('#i-pencil')
  expect(html).toContain('href="/sessions/s/work"')
  expect(html.replace(/<[^>]*>/g, '')).toStartWith('Robin planned 3 items')
})

test('an unknown kind is shown with a plain icon and its name in words', () => {
  const html = rowOf({ event: 'moon_rose', team: 'Cleo' })
  expect(html).toContain('#i-dot')
  expect(html.replace(/<[^>]*>/g, '')).toStartWith('Cleo moon rose')
  expect(eventLine(kinds, { event: 'constructor' })).toBe('Somebody constructor')
})

test('a new convener is named as such, whoever passed it on', () => {
  expect(eventLine(kinds, { event: 'convener_changed', by: 'Robin', team: "Bea's Team" })).toBe("Bea's Team is now the convener")
})

test('what becomes of a proposal reads as a sentence, with as much of the feedback as a line takes', () => {
  const records = eventKindsOf([{ eventKinds: recordKinds }])
  const about = { proposal_type: 'decision', title: 'By hand', by: 'Nora' }
  expect(eventLine(records, { event: 'proposal_made', ...about })).toBe('Nora proposed a decision: “By hand”')
  expect(eventLine(records, { event: 'proposal_approved', ...about, edited: ['title'] })).toBe('Nora approved “By hand” with changes')
  expect(eventLine(records, { event: 'proposal_rejected', ...about, feedback: 'Too early.' })).toBe('Nora rejected “By hand”: Too early.')
  expect(eventLine(records, { event: 'proposal_expired', ...about })).toBe('Nora had no answer in time, “By hand” is expired')
  expect(eventLine(records, { event: 'proposal_rejected', ...about, feedback: 'x'.repeat(2_000) }).length).toBeLessThan(300)
})

test('a name stands for one kind', () => {
  expect(() => eventKindsOf([{ eventKinds: [planned] }, { eventKinds: [planned] }])).toThrow('work_planned')
})

test('the icon of each kind exists', () => {
  for (const { icon } of eventKindsOf(toolsets).values()) expect<string>(iconNamed(icon)).toBe(icon)
})

test('a change reads from before to, however deep it lies, and nothing else moves', () => {
  const stored = { to: ['a'], changes: [{ to: 2, by: 'b', from: undefined }], none: null }
  expect(JSON.stringify(fromBeforeTo({ ...stored, more: { to: 1, from: 0 } }))).toBe(
    '{"to":["a"],"changes":[{"to":2,"by":"b"}],"none":null,"more":{"from":0,"to":1}}',
  )
})
