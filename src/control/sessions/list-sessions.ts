// The sessions of this server, those with agents and those without.
import { z } from 'zod'
import { READERS } from '../../core/key-scopes.ts'
import { key, person } from '../../operations/callers.ts'
import { listControlRows } from '../../stores/control/sessions.ts'
import { pageFields, pageOf, readCursor } from '../../operations/list-cursor.ts'
import { ownSession } from '../reach.ts'
import { agentStatus, listCursor, listLimit, op, toolRoute } from '../schemas.ts'
import { sessionRow, sessionsOf } from './session-answer.ts'

/** The newest first. An agent's key sees its own session and what is below it. 400 for a cursor that is none. */
export const listSessions = op({
  name: 'list_sessions',
  summary: 'List the sessions, newest first, each with what its agent is doing.',
  route: toolRoute('list_sessions'),
  callers: [key, person],
  keyRow: READERS,
  effect: 'read',
  searchHint: 'list sessions and their agents',
  example: { status: 'running' },
  input: z.strictObject({
    status: agentStatus.optional().describe('What their agents do.'),
    include_archived: z.boolean().default(false),
    limit: listLimit,
    cursor: listCursor,
  }),
  output: z.object({ sessions: z.array(sessionRow), ...pageFields }),
  refuses: ['forbidden'],
  async run(context, { status, include_archived, limit, cursor }) {
    const filter = {
      status,
      archived: include_archived,
      below: ownSession(context.caller),
      after: readCursor(cursor, { status, include_archived }),
      limit: limit + 1,
    }
    const rows = await listControlRows(context.queries, filter)
    const { shown, ...page } = pageOf(rows, limit, ({ created_at: at, session_id: id }) => ({ at, id }), { status, include_archived })
    return { sessions: await sessionsOf(context, shown), ...page }
  },
})
