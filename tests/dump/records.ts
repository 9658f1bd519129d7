// Proposals that wait and that were decided, their records, and a board with work in every state.
import { done } from '../support/parley.ts'
import { ACTION, DECISION, recordsScene } from '../support/records-scene.ts'
import type { Scene } from './leave.ts'

export const leave = async ({ parley, call, keep }: Scene) => {
  const { id: session_id, seats } = await recordsScene(call, parley)
  const [alex, bea] = [seats.alex.token, seats.bea.token]
  const decide = async (title: string) => (await keep('records.propose_decision', { ...DECISION, title }, { team: alex })).id as string
  const act = async (title: string) => (await keep('records.propose_action_item', { ...ACTION, title }, { team: bea })).id as string
  const approve = (proposal_id: string) => keep('records.resolve_approval', { proposal_id, action: 'approve' }, { person: true })
  const decision = await approve(await decide('The parser is written by hand'))
  const action = await approve(await act('Write the migration guide'))
  const pending = { decision: await decide('The lexer keeps comments'), action: await act('Measure the printer') }
  const items = [
    { title: 'Build the lexer', paths: ['src/lexer'] },
    { title: 'Test the lexer', depends_on: ['#1'] },
    { title: 'Write docs' },
  ]
  const planned = await keep('plan_work', { session_id, items }, { team: alex })
  const [lexer, test, docs] = (planned.items as { item_id: string }[]).map(({ item_id }) => item_id)
  await keep('claim_work', { session_id, item_id: lexer }, { team: bea })
  await keep('claim_work', { session_id, item_id: docs }, { team: alex })
  await keep('update_work', { session_id, item_id: docs, status: 'done', result: 'In docs/.' }, { team: alex })
  const board = await done(seats.alex('list_work'))
  return { session_id, alex, bea, decision: decision.record, action: action.record, pending, lexer, test, docs, board }
}
