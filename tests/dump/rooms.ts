// Sessions, an import and settings, as every version has them.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { done, seat } from '../support/parley.ts'
import type { Scene } from './leave.ts'

const TRANSCRIPT = readFileSync(join(import.meta.dir, '../data/codex.jsonl'))

export const leaveRooms = async ({ parley, call, keep }: Scene) => {
  const made = await keep('create_session', {
    title: 'Shipping the parser',
    description: 'Decide what goes out.',
    creator_team_name: "Alex's Team",
  })
  const session_id = made.session_id as string
  const joined = await keep('join_session', { session_id, team_name: "Bea's Team" })
  const [alex, bea] = [seat(call, made), seat(call, joined)]
  const team = alex.token
  const first = await keep('post_message', { session_id, content: { text: 'Shall the tokenizer ship on Tuesday?' } }, { team })
  await keep(
    'post_message',
    { session_id, content: { text: 'Yes, with the quixotic fallback.' }, reply_to: first.message_id },
    { team: bea.token },
  )
  await keep('post_message', { session_id, content: 'I agree.' }, { person: true })
  for (let n = 1; n <= 3; n++) await done(bea('post_message', { content: { text: `Without a key, number ${n}.` } }))
  await keep('update_session_doc', { session_id, content: '# Plan\n\n## Decisions\n- Tuesday', expected_version: 0 }, { team })
  await keep('append_to_session_doc', { session_id, text: '## Open\n- The docs' }, { team: bea.token })
  await keep('ack_messages', { session_id, cursor: 2 }, { team: bea.token })
  await keep('update_session_metadata', { session_id, title: 'Shipping the parser, at last', reason: 'it ships' }, { team })
  await keep('share_session', { session_id }, { person: true })
  await keep('transfer_convener', { session_id, to: bea.handle }, { team })

  const over = await done(call('create_session', { title: 'The one that is over', description: '', creator_team_name: 'Cleo' }))
  await done(call('post_message', { session_id: over.session_id, content: { text: 'Nothing is left to say.' } }, { team: over.team_id }))
  await keep('conclude_session', { session_id: over.session_id, summary_section: 'It is decided.' }, { team: over.team_id })
  await keep('create_session', { title: 'The one after', description: '', creator_team_name: 'Cleo', resume_from: over.session_id })

  const response = await parley.send('/api/traces?name=codex.jsonl', {
    body: TRANSCRIPT,
    headers: { 'idempotency-key': 'a key of an import, used before' },
  })
  const imported = (await response.json()) as { session_id: string }
  const trace = await parley.database.query('select id, sequence, turn, type from events where session_id = $1 order by sequence', [
    imported.session_id,
  ])

  const settings = { mcp_url: 'https://parley.example/mcp', loop_guard: JSON.stringify({ mode: 'slow', posts: 20, likeness: 0.8 }) }
  await parley.services.changeSetting('mcp_url', settings.mcp_url)
  await parley.services.changeSetting('loop_guard', settings.loop_guard)

  const room = async (id: string, token: string) => ({
    session_id: id,
    team: token,
    feed: (await done(call('wait_for_messages', { session_id: id, since_cursor: 0, timeout: 0 }, { team: token }))).messages,
    doc: await done(call('read_session_doc', { session_id: id }, { team: token })),
  })
  return { rooms: [await room(session_id, bea.token), await room(over.session_id, over.team_id)], imported, trace, settings }
}
