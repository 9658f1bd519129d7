// What proposals have become, wherever it is told.
import { expect } from 'bun:test'
import { readFeed, type Room } from './rooms.ts'

/** Each of these proposals has become this, once, in every place that tells of it. */
export const expectDecidedOnce = async (room: Room, outcomes: Map<string, string>) => {
  const events = (await readFeed(room)) as { event?: string; proposal_id?: string; record_id?: string }[]
  const approved = [...outcomes].filter(([, outcome]) => outcome === 'approved').map(([id]) => id)
  for (const [id, outcome] of outcomes) {
    const told = events.filter(({ proposal_id }) => proposal_id === id).map(({ event }) => event)
    expect(told).toEqual(['proposal_made', `proposal_${outcome}`])
  }
  const counted = (text: string) => [...text.matchAll(/^- \*\*.*\/approvals\/([0-9a-f-]{36})\)\)$/gm)].map(([, id]) => id!).toSorted()
  const get = async (path: string) => fetch(`${room.url}${path}`, { headers: { 'x-team-id': room.teams[0]! } })
  const doc = (await (await get(`/api/sessions/${room.session}/doc`)).json()) as { content: string; version: number }
  expect(counted(doc.content)).toEqual(approved.toSorted())
  expect(doc.version).toBe(approved.length)
  const records = (await (await get(`/sessions/${room.session}.md`)).text()).split('## Decisions in force')[1] ?? ''
  expect(counted(records)).toEqual(approved.toSorted())
  expect(new Set(events.flatMap(({ record_id }) => record_id ?? [])).size).toBe(approved.length)
}
