// The conveners that are gone, among very many sessions.
import { expect, test } from 'bun:test'
import { goneConveners } from '../../src/stores/members.ts'
import { onOneEngine } from '../support/parley.ts'

const SESSIONS = 10_000 // of which a tenth are open: read once for each open one, all participants took longer than a statement may

onOneEngine((parley) => {
  test('are found among ten thousand sessions', async () => {
    const { database } = parley()
    await database.query(
      `insert into sessions (id, title, description, expected_teams, series_id, status, created_at, updated_at, convener_team_id)
       select gen_random_uuid(), 'Old', '', 0, gen_random_uuid(), case when n % 10 = 0 then 'active' else 'closed' end, now(), now(), gen_random_uuid()
       from generate_series(1, $1::int) n`,
      [SESSIONS],
    )
    await database.query(
      `insert into participants (session_id, team_id, token_hash, team_name, hue, last_seen_cursor, delivered_cursor, last_seen_at)
       select s.id, case when k = 0 then s.convener_team_id else gen_random_uuid() end, '', 'Team ' || k, 1, 0, 0, now() - interval '8 days'
       from sessions s, generate_series(0, 2) k`,
    )
    await database.query('analyze')
    await database.query(
      `update participants set last_seen_at = now() where team_name = 'Team 1'
       and session_id in (select id from sessions where status = 'active' limit 20)`,
    )
    const ago = (s: number) => new Date(Date.now() - s * 1_000).toISOString()
    expect(await goneConveners(database, { seenBefore: ago(300), othersSince: ago(100), now: ago(0) })).toHaveLength(20)
  }, 60_000)
})
