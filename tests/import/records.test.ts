// Proposals, outcomes and work are events of the log: they are found again in it, and told by an import as they were.
import { afterAll, expect, test } from 'bun:test'
import { indexed } from '../support/history.ts'
import { bearer, keyOf } from '../support/keys.ts'
import { done, onEveryEngine, startParley, viaRest } from '../support/parley.ts'
import { ACTION, DECISION, recordsScene } from '../support/records-scene.ts'
import { eventsOf, importFile, scratch } from '../support/transcripts.ts'

const files = scratch()
afterAll(files.drop)

onEveryEngine((parley) => {
  const scene = async () => {
    const rest = viaRest(parley())
    const at = await recordsScene(rest, parley())
    const { id } = await done(at.alex('propose_decision', DECISION))
    await done(at.resolve(id, { action: 'approve', feedback: 'Agreed, marmalade.' }))
    const { id: other } = await done(at.bea('propose_action_item', ACTION))
    await done(at.resolve(other, { action: 'reject', feedback: 'Not before the release.' }))
    const { items } = await done(at.seats.alex('plan_work', { items: [{ title: 'Write the kumquat parser' }], claim: true }))
    await done(at.seats.alex('update_work', { item_id: items[0].item_id, status: 'done', result: 'It parses kumquats.' }))
    return at
  }

  test('a search of history finds proposals, outcomes and work as the events they are', async () => {
    const at = await scene()
    await indexed(parley())
    const as = { headers: bearer(await keyOf(parley(), 'read')) }
    const found = async (query: string) => {
      const input = { query, event_types: ['system'], within_id: `session:${at.id}`, n_hits: 10 }
      const { data } = await done(viaRest(parley())('history.search_sessions', input, as))
      return (data.results as any[]).map((hit) => JSON.stringify(hit))
    }
    for (const [query, words] of [
      ['proposal_made parser is written by hand', DECISION.title],
      ['marmalade', 'Agreed, marmalade.'],
      ['not before the release', 'Not before the release.'],
      ['parses kumquats', 'It parses kumquats.'],
    ] as const) {
      const hits = await found(query)
      expect(
        hits.some((hit) => hit.includes('"type":"system"') && hit.includes(words)),
        `${query}: ${hits.join('\n')}`,
      ).toBe(true)
    }
  })

  test('an import of the feed tells them as they were', async () => {
    const at = await scene()
    const feed = await (await parley().send(`/sessions/${at.id}/feed.jsonl?include_trace=true`)).text()
    const file = files.write(`${at.id}.jsonl`, feed)
    const elsewhere = await startParley()
    try {
      const { session_id, skipped } = await importFile(elsewhere, file)
      expect(skipped).toEqual([])
      const told = async (served: Pick<typeof elsewhere, 'database'>, id: string) =>
        (await eventsOf(served, id))
          .filter(({ content }) => /^(proposal|record|work)_/.test(content.event ?? ''))
          .map(({ type, author, content, at: time, ...row }) => ({ type, author, content, time, to: (row as any).to_team_ids }))
      const before = await told(parley(), at.id)
      expect(before.map(({ content }) => content.event)).toEqual(
        expect.arrayContaining(['proposal_made', 'proposal_approved', 'proposal_rejected', 'work_planned', 'work_claimed', 'work_done']),
      )
      expect(await told(elsewhere, session_id)).toEqual(before)
      const texts = async (served: Pick<typeof elsewhere, 'send'>, id: string) =>
        (await (await served.send(`/sessions/${id}`)).text()).match(/approved “[^<]*|Not before the release|kumquat/g)
      expect(new Set(await texts(elsewhere, session_id))).toEqual(new Set(await texts(parley(), at.id)))
    } finally {
      await elsewhere.close()
    }
  })

  test('there is no chat beside the session [E20]', async () => {
    const response = await parley().send('/api/agent/chat', { method: 'POST', body: '{}' })
    expect([response.status, ((await response.json()) as any).error.code]).toEqual([404, 'not_found'])
  })
})
