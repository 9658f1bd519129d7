// The board: planning, claiming, finishing; what wakes whom, and what is refused.
import { expect, test } from 'bun:test'
import { done, refused, room, throughEveryDoor } from '../../support/parley.ts'

throughEveryDoor((call) => {
  test('work is planned, claimed with what it builds on, and finished', async () => {
    const { alex, bea } = await room(call)
    const { items } = await done(
      alex('plan_work', {
        items: [
          { title: 'Write the lexer', paths: ['src/lexer'] },
          { title: 'Write the parser', depends_on: ['#1'], priority: 'high', owner: "Bea's Team" },
        ],
      }),
    )
    expect(items.map(({ title, ready, status }: any) => [title, ready, status])).toEqual([
      ['Write the lexer', true, 'open'],
      ['Write the parser', false, 'open'],
    ])
    const claimed = await done(bea('claim_work'))
    expect(claimed.item).toMatchObject({
      title: 'Write the lexer',
      status: 'claimed',
      claimed_by: { team_id: bea.handle, team_name: bea.team },
    })
    expect(claimed.counts).toEqual({ open: 1, ready: 0, claimed: 1, done: 0, dropped: 0 })
    const taken = await refused(alex('claim_work', { item_id: items[0].item_id }), 'conflict')
    expect(taken.details).toEqual({
      claimed_by: { team_id: bea.handle, team_name: bea.team },
      claim_expires_at: claimed.item.claim_expires_at,
    })
    await done(bea('update_work', { item_id: items[0].item_id, status: 'done', result: 'in src/lexer' }))
    const next = await done(bea('claim_work'))
    expect(next.item.depends_on).toEqual([{ item_id: items[0].item_id, title: 'Write the lexer', status: 'done', result: 'in src/lexer' }])
  })
})
