// What is proposed is decided once, or expires once, though two people decide at once at disturbed instances, at times just when it expires:
// one record, one version of the document.
import { expect } from 'bun:test'
import type postgres from 'postgres'
import { expectDecidedOnce, expectToldOnce } from '../decided.ts'
import { until, type Room } from '../rooms.ts'
import { good } from './ask.ts'
import { EXPIRES_AFTER_S } from './instances.ts'
import { PACE_MS, type Part, type Scene } from './scene.ts'

const LEFT_ALONE = 6 // of so many proposals one
const DECIDED_LATE = 4 // of so many one, as close to its end as can be
const REJECTED = 5 // by the second person of so many one
const WRITTEN_WITHIN_MS = 60_000 // for what hangs

export const decide = async ({ ask, urls, people, over, openRoom }: Scene): Promise<Part> => {
  const { session, teams } = await openRoom(1)
  const outcomes = { decision: new Map<string, string>(), action_item: new Map<string, string>() }
  let first = 0
  let late = 0

  const propose = async (round: number) => {
    const type = round % 3 === 0 ? ('action_item' as const) : ('decision' as const)
    const proposal = { meeting_id: session, title: `Proposal ${round}`, description: 'So it is.' }
    const { id } = good(await ask(`/api/records/propose_${type}`, { body: proposal, headers: { 'x-team-id': teams[0]! } }))
    return { id: id as string, become: (outcome: string) => void outcomes[type].set(id, outcome) }
  }
  // Of the two people one is heard; neither is, if the time is over.
  const decideBy = async ({ id, become }: Awaited<ReturnType<typeof propose>>, round: number) => {
    const action = round % REJECTED === 0 ? 'reject' : 'approve'
    const both = await Promise.all(
      people.map((cookie, n) => ask(`/api/approvals/${id}`, { body: { action: n === 0 ? 'approve' : action }, headers: { cookie } })),
    )
    const won = both.findIndex(({ status }) => status === 200)
    const refused = both.filter((_, n) => n !== won)
    expect(refused.map(({ status }) => status)).toEqual(won < 0 ? [409, 409] : [409])
    const status = won < 0 ? 'expired' : both[won]!.body.proposal.status
    for (const { body } of refused)
      expect(body.error.details).toMatchObject({ status, ...(won >= 0 && { resolved_by: { name: won === 0 ? 'Nora' : 'Omar' } }) })
    become(status)
    first += Number(won === 0)
  }
  const deciding = async () => {
    const later: Promise<void>[] = []
    for (let round = 1; !over.now; round++) {
      const proposal = await propose(round)
      if (round % LEFT_ALONE === 0) proposal.become('expired')
      else if (round % DECIDED_LATE !== 0) await decideBy(proposal, round)
      else {
        late++
        later.push(Bun.sleep(EXPIRES_AFTER_S * 1_000 - Math.random() * 300).then(() => decideBy(proposal, round)))
      }
      await Bun.sleep(PACE_MS)
    }
    await Promise.all(later)
  }
  return {
    done: deciding(),
    async verdict(sql) {
      const all = new Map([...outcomes.decision, ...outcomes.action_item])
      expect([...all.values()]).toContain('approved')
      const statuses = async () =>
        (await sql<{ id: string; status: string }[]>`select id, status from proposals where session_id = ${session}`).map(
          ({ id, status }) => [id, status] as const,
        )
      await until('what is expired is written down', WRITTEN_WITHIN_MS, async () => (await statuses()).every(([, is]) => is !== 'pending'))
      expect(new Map(await statuses())).toEqual(all)
      const room: Room = { url: urls[0]!, session, teams }
      await expectDecidedOnce(room, outcomes.decision)
      await expectItems(sql, room, outcomes.action_item)
      const expired = [...all.values()].filter((outcome) => outcome === 'expired').length
      return `${all.size} proposals, ${first} decided by the first of two, ${late} just when they expired, ${expired} expired`
    },
  }
}

const expectItems = async (sql: postgres.Sql, room: Room, outcomes: Map<string, string>) => {
  const records = await expectToldOnce(room, outcomes)
  const items = await sql<{ id: string; proposal_id: string }[]>`select id, proposal_id from items where session_id = ${room.session}`
  const approved = [...outcomes].filter(([, outcome]) => outcome === 'approved').map(([id]) => id)
  expect(items.map(({ proposal_id }) => proposal_id).toSorted()).toEqual(approved.toSorted())
  expect(new Set(items.map(({ id }) => id))).toEqual(records)
}
