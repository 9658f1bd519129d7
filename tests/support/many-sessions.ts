// Many sessions and tasks, as they would be after months: written beside the operations that make them, which would take minutes.
import type { Database } from '../../db/database.ts'

/** Sessions with agents in this worktree, each second one the child of the one before it, and as many ended tasks of the first of them.
 *  Returns the first one's id. */
export const manySessions = async ({ transaction }: Pick<Database, 'transaction'>, worktreeId: string, count: number): Promise<string> => {
  const first = crypto.randomUUID()
  await transaction(async ({ query }) => {
    await query(
      `with made as (
         select n, case when n = 1 then $1::uuid else gen_random_uuid() end as id from generate_series(1, $3::int) n
       ), opened as (
         insert into sessions (id, title, description, series_id, agentic_tool, agent_status, permission_mode, worktree_id, created_at,
           parent_session_id)
         select id, 'Session ' || n, 'One of many.', id, 'claude-code', case n % 5 when 0 then 'failed' when 1 then 'running' else 'idle' end,
           'acceptEdits', $2, now() - n * interval '1 s', case n % 2 when 0 then lag(id) over (order by n) end
         from made returning id, created_at
       ), indexed as (
         insert into session_index (session_id, started_at, updated_at) select id, created_at, created_at from opened
       )
       insert into agents (session_id, team_id, root_session_id, context_files, mcp_servers)
       select id, gen_random_uuid(), id, '[]', '[]' from opened`,
      [first, worktreeId, count],
    )
    await query(
      `insert into tasks (id, session_id, status, mode, prompt, prompted_by, message_id, start_sequence, turn, created_at, ended_at, answer,
         answer_message_id, usage)
       select gen_random_uuid(), $1, 'completed', 'continue', 'Prompt ' || n || repeat(' more', 100),
         '{"kind":"key","name":"CI","session_id":null}', gen_random_uuid(), n, n, now(), now(), repeat('Done. ', 200), gen_random_uuid(),
         '{"input_tokens":10,"output_tokens":1,"cost_usd":0.001}'
       from generate_series(1, $2::int) n`,
      [first, count],
    )
    await query(
      `insert into tasks (id, session_id, status, mode, prompt, prompted_by, message_id, start_sequence, turn)
       select gen_random_uuid(), session_id, 'completed', 'continue', 'Prompt', '{"kind":"key","name":"CI","session_id":null}',
         gen_random_uuid(), 1, 1 from agents where session_id <> $1`,
      [first],
    )
  })
  for (const table of ['sessions', 'agents', 'tasks', 'session_index']) await transaction(({ query }) => query(`analyze ${table}`))
  return first
}
