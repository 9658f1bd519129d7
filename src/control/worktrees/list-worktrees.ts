// Where agents can work: the folders that runners have registered.
import { z } from 'zod'
import { READERS } from '../../core/key-scopes.ts'
import { key, person } from '../../operations/callers.ts'
import { listWorktreeRows } from '../../stores/control/worktrees.ts'
import { pageFields, pageOf, readCursor } from '../../operations/list-cursor.ts'
import { listCursor, listLimit, op, toolRoute } from '../schemas.ts'
import { worktree, worktreeAnswer } from './worktree-answer.ts'
import { worktreeReach } from './worktree-reach.ts'

/** The newest first. An agent's key sees those that it may start others in: its runner's, of its own repository unless the runner says
 *  otherwise. 400 for a cursor that is none. */
export const listWorktrees = op({
  name: 'list_worktrees',
  summary: 'List the worktrees in which agents can work, with the agents and MCP servers of each.',
  route: toolRoute('list_worktrees'),
  callers: [key, person],
  keyRow: READERS,
  effect: 'read',
  searchHint: 'repositories, branches, runners for agents',
  example: { online: true },
  input: z.strictObject({
    repo_full_name: z.string().min(1).max(200).optional(),
    online: z.boolean().optional().describe('Whether its runner is.'),
    limit: listLimit,
    cursor: listCursor,
  }),
  output: z.object({ worktrees: z.array(worktree), ...pageFields }),
  refuses: ['forbidden'],
  async run(context, { repo_full_name: repo, online, limit, cursor }) {
    const filters = { repo, online }
    const asked = { ...filters, after: readCursor(cursor, filters), limit: limit + 1 }
    const reach = await worktreeReach(context)
    const rows = reach ? await listWorktreeRows(context.queries, { ...asked, ...reach }) : []
    const { shown, ...page } = pageOf(rows, limit, ({ registered_at: at, worktree_id: id }) => ({ at, id }), filters)
    return { worktrees: shown.map(worktreeAnswer), ...page }
  },
})
