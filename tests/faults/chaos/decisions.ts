// What is proposed is decided once, though two people decide at once at disturbed instances: one record, one version of the document.
import { expect } from 'bun:test'
import { expectDecidedOnce } from '../decided.ts'
import { good } from './ask.ts'
import { PACE_MS, type Part, type Scene } from './scene.ts'

export const decide = async ({ ask, urls, people, over, openRoom }: Scene): Promise<Part> => {
  const { session, teams } = await openRoom(1)
  const outcomes = new Map<string, string>()
  let first = 0
  const deciding = async () => {
    for (let round = 0; !over.now; round++) {
      const proposal = { meeting_id: session, title: `Decision ${round}`, description: 'So it is.' }
      const { id } = good(await ask('/api/records/propose_decision', { body: proposal, headers: { 'x-team-id': teams[0]! } }))
      const action = round % 4 === 0 ? 'reject' : 'approve'
      const both = await Promise.all(
        people.map((cookie, n) => ask(`/api/approvals/${id}`, { body: { action: n === 0 ? 'approve' : action }, headers: { cookie } })),
      )
      expect(both.map(({ status }) => status).toSorted()).toEqual([200, 409])
      const won = both.findIndex(({ status }) => status === 200)
      const { status } = both[won]!.body.proposal
      expect(both[1 - won]!.body.error.details).toMatchObject({ status, resolved_by: { name: won === 0 ? 'Nora' : 'Omar' } })
      outcomes.set(id, status)
      first += 1 - won
      await Bun.sleep(PACE_MS)
    }
  }
  return {
    done: deciding(),
    async verdict(sql) {
      await expectDecidedOnce({ url: urls[0]!, session, teams }, outcomes)
      const proposals = await sql<{ id: string; status: string }[]>`select id, status from proposals where session_id = ${session}`
      expect(new Map(proposals.map(({ id, status }) => [id, status]))).toEqual(outcomes)
      return `${outcomes.size} decisions, ${first} of them by the first of two`
    },
  }
}
