// Teams that share out work while their instances are disturbed: each item is done once, by the one team that had it. Now and then a team
// falls silent for as long as it takes to lose what it had claimed; others lose it because no instance answered them in time.
import { expect } from 'bun:test'
import type postgres from 'postgres'
import { pathsOverlap } from '../../support/paths-overlap.ts'
import { until } from '../rooms.ts'
import { good } from './ask.ts'
import { PACE_MS, type Part, type Scene } from './scene.ts'

const TEAMS = 6 // the first one plans: a convener may take work back, and so finish what it has lost
const FALLS_SILENT = 0.1 // after so many of all claims; the first of each team among them
const LOST_WITHIN_MS = 120_000 // for what hangs
const FOLDERS = 4 // that the items edit: fewer than teams, so that claims would overlap
const AHEAD = 8 // items planned ahead of those that are done

export const shareOutWork = async ({ ask, openRoom, over, people }: Scene): Promise<Part> => {
  const { session, teams } = await openRoom(TEAMS)
  const work = `/api/sessions/${session}/work`
  const as = (team: string) => ({ 'x-team-id': team })
  const planned: string[] = []
  const claims: string[] = [] // item and team, as acknowledged
  const dones: string[] = []
  const lost: string[] = [] // whose team was told so
  let silences = 0

  const plan = async () => {
    while (!over.now) {
      await Bun.sleep(PACE_MS)
      if (planned.length - dones.length >= AHEAD) continue
      const items = Array.from({ length: 4 }, (_, n) => ({
        title: `Item ${planned.length + n}`,
        paths: [`src/${(planned.length + n) % FOLDERS}/**`],
      }))
      planned.push(...good(await ask(work, { body: { items }, headers: as(teams[0]!) })).items.map(({ item_id }: any) => item_id))
    }
  }
  // A person looks: a call of its own would keep the team its claim.
  const isClaimedBy = async (item: string, name: string) => {
    const { items } = good(await ask(`${work}?item_id=${item}`, { headers: { cookie: people[0] } }))
    return items[0].status === 'claimed' && items[0].claimed_by.team_name === name
  }
  const workAt = async (team: string, name: string) => {
    for (let claimed = 0; !over.now || dones.length < planned.length;) {
      const { item } = good(await ask(`${work}/claim`, { body: {}, headers: as(team) }))
      if (item) {
        const { item_id } = item
        claims.push(`${item_id} ${name}`)
        const silent = claimed++ === 0 || Math.random() < FALLS_SILENT
        if (silent) await until(`${name} loses ${item_id}`, LOST_WITHIN_MS, async () => !(await isClaimedBy(item_id, name)))
        else await Bun.sleep(Math.random() * 60)
        const change = !silent && Math.random() < 0.2 ? { status: 'open', note: 'Somebody else.' } : { status: 'done', result: 'Done.' }
        const answer = await ask(`${work}/${item_id}`, { body: change, headers: as(team) })
        const isLost = answer.status === (change.status === 'done' ? 409 : 403)
        if (silent) silences++
        if (silent && !isLost) throw new Error(`${name} was silent, and still had ${item_id}: ${JSON.stringify(answer.body)}`)
        if (isLost) lost.push(`${item_id} ${name}`)
        else good(answer)
        if (!isLost && change.status === 'done') dones.push(`${item_id} ${name}`)
      }
      await Bun.sleep(PACE_MS)
    }
  }
  const working = Promise.all([plan(), ...teams.slice(1).map((team, n) => workAt(team, `Team ${n + 1}`))])
  return {
    done: working,
    verdict: async (sql) => {
      const told = replayed(await boardOf(sql, session))
      expect(told.faults).toEqual([])
      expect(dones.length).toBeGreaterThan(0)
      expect(told.claims.toSorted()).toEqual(claims.toSorted())
      expect(told.dones.toSorted()).toEqual(dones.toSorted())
      expect(told.planned.toSorted()).toEqual(planned.toSorted())
      expect(lost.filter((claim) => timesOf(claim, lost) > timesOf(claim, told.lapsed))).toEqual([]) // told so without its lease being over
      return `${planned.length} items, ${claims.length} claims, ${told.lapsed.length} of which ended with their lease, ${silences} in silence`
    },
  }
}

const timesOf = (one: string, all: string[]) => all.filter((other) => other === one).length

interface Told {
  sequence: number
  event: string
  reason?: string
  item_id?: string
  by?: string
  team?: string
  items?: { item_id: string }[]
}

const boardOf = async (sql: postgres.Sql, session: string) => {
  const paths = new Map<string, string[]>()
  for (const { id, paths: own } of await sql<{ id: string; paths: string[] }[]>`select id, paths from items where session_id = ${session}`)
    paths.set(id, own)
  const events = await sql<{ sequence: string; content: Omit<Told, 'sequence'> }[]>`
    select sequence, content from events where session_id = ${session} and content->>'event' like 'work_%' order by events.sequence`
  return { paths, events: events.map(({ sequence, content }) => ({ ...content, sequence: Number(sequence) })) }
}

/** The board as its log tells it, from the beginning: who had what, and what cannot be. */
export const replayed = ({ paths, events }: { paths: Map<string, string[]>; events: Told[] }) => {
  const held = new Map<string, string>()
  const faults: string[] = []
  const [planned, claims, lapsed, dones] = [[] as string[], [] as string[], [] as string[], [] as string[]]
  const done = new Set<string>()
  const overlapping = (item: string, team: string) =>
    [...held].filter(([other, its]) => its !== team && paths.get(other)!.some((a) => paths.get(item)!.some((b) => pathsOverlap(a, b))))
  for (const { sequence, event, item_id, by, team, items, reason } of events) {
    const fault = (what: string) => void faults.push(`${sequence}: ${event} ${item_id} by ${by ?? team}: ${what}`)
    if (event === 'work_planned') planned.push(...items!.map(({ item_id: id }) => id))
    if (event === 'work_claimed') {
      if (held.has(item_id!)) fault(`${held.get(item_id!)} has it`)
      if (done.has(item_id!)) fault('it is done')
      for (const [other, its] of overlapping(item_id!, by!)) fault(`overlaps ${other} of ${its}`)
      held.set(item_id!, by!)
      claims.push(`${item_id} ${by}`)
    }
    if (event === 'work_released' || event === 'work_done') {
      if (held.get(item_id!) !== (by ?? team)) fault(`${held.get(item_id!) ?? 'nobody'} has it`)
      held.delete(item_id!)
      if (reason === 'lease_expired') lapsed.push(`${item_id} ${team}`)
    }
    if (event === 'work_done') {
      if (done.has(item_id!)) fault('it is done already')
      done.add(item_id!)
      dones.push(`${item_id} ${by}`)
    }
  }
  return { faults, planned, claims, lapsed, dones }
}
