// What proposals have become, wherever it is told.
import { expect } from 'bun:test'
import { readFeed, type Room } from './rooms.ts'

/** Of each of these proposals the feed says once that it was made, and once what it has become. Returns the records that came of them. */
export const expectToldOnce = async (room: Room, outcomes: Map<string, string>): Promise<Set<string>> => {
  const feed = (await readFeed(room)) as { event?: string; proposal_id?: string; record_id?: string }[]
  const events = feed.filter(({ proposal_id }) => outcomes.has(proposal_id!))
  for (const [id, outcome] of outcomes) {
    const told = events.filter(({ proposal_id }) => proposal_id === id).map(({ event }) => event)
    expect([id, ...told]).toEqual([id, 'proposal_made', `proposal_${outcome}`])
  }
  return new Set(events.flatMap(({ record_id }) => record_id ?? []))
}

/** Each of these proposals of decisions has become this, once, in every place that tells of it. */
export const expectDecidedOnce = async (room: Room, outcomes: Map<string, string>) => {
  const records = await expectToldOnce(room, outcomes)
  const approved = [...outcomes].filter(([, outcome]) => outcome === 'approved').map(([id]) => id)
  const counted = (text: string) => [...text.matchAll(/^- \*\*.*\/approvals\/([0-9a-f-]{36})\)\)$/gm)].map(([, id]) => id!).toSorted()
  const get = async (path: string) => fetch(`${room.url}${path}`, { headers: { 'x-team-id': room.teams[0]! } })
  const doc = (await (await get(`/api/sessions/${room.session}/doc`)).json()) as { content: string; version: number }
  expect(counted(doc.content)).toEqual(approved.toSorted())
  expect(doc.version).toBe(approved.length)
  const inForce = (await (await get(`/sessions/${room.session}.md`)).text()).split('## Decisions in force')[1] ?? ''
  expect(counted(inForce)).toEqual(approved.toSorted())
  expect(records.size).toBe(approved.length)
}
