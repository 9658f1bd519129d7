// A session as control's lists show it.
import { z } from 'zod'
import type { Context } from '../../operations/context.ts'
import { controlRows, relativesOf, type ControlRow, type Relatives } from '../../stores/control/sessions.ts'
import type { Holdups } from '../../stores/control/holdups.ts'
import { ofSession, readHoldups } from '../holdups.ts'
import { agentStatus, holdups, promptedBy, time } from '../schemas.ts'

export const genealogy = z.object({
  parent_session_id: z.uuid().nullable(),
  forked_from_session_id: z.uuid().nullable(),
  children: z.array(z.uuid()),
  forks: z.array(z.uuid()),
})

export const sessionRow = z.object({
  session_id: z.uuid(),
  title: z.string(),
  repo_full_name: z.string().nullable(),
  branch: z.string().nullable(),
  status: agentStatus.nullable(),
  ...holdups,
  archived_at: time.nullable(),
  current_branch: z.string().nullable(),
  created_at: time,
  updated_at: time,
  is_agent_running: z.boolean(),
  agentic_tool: z.string().nullable(),
  genealogy,
  prompted_by: promptedBy.nullable(),
})
export type SessionRow = z.infer<typeof sessionRow>

export const sessionOf = (row: ControlRow, { children, forks }: Relatives, found: Holdups | undefined): SessionRow => ({
  session_id: row.session_id,
  title: row.title,
  repo_full_name: row.repo_full_name,
  branch: row.branch,
  status: row.agent_status,
  ...ofSession(found),
  archived_at: row.archived_at,
  current_branch: row.current_branch,
  created_at: row.created_at,
  updated_at: row.updated_at,
  is_agent_running: row.is_agent_running,
  agentic_tool: row.agentic_tool,
  genealogy: {
    parent_session_id: row.parent_session_id,
    forked_from_session_id: row.forked_from_session_id,
    children,
    forks,
  },
  prompted_by: row.prompted_by,
})

/** The sessions of these rows. */
export const sessionsOf = async (context: Pick<Context, 'queries' | 'services'>, rows: ControlRow[]): Promise<SessionRow[]> => {
  const ids = rows.map(({ session_id }) => session_id)
  const [relatives, found] = await Promise.all([relativesOf(context.queries, ids), readHoldups(context, ids)])
  return rows.map((row) => sessionOf(row, relatives.get(row.session_id)!, found.get(row.session_id)))
}

/** The session of this id, which exists. */
export const sessionAnswer = async (context: Pick<Context, 'queries' | 'services'>, id: string): Promise<SessionRow> =>
  (await sessionsOf(context, await controlRows(context.queries, [id])))[0]!
