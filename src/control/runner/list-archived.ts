// Which sessions are archived: what a runner made for those it may remove (`parley runner prune`).
import { z } from 'zod'
import { archivedAmong } from '../../stores/control/sessions.ts'
import { op, runnerRoute } from '../schemas.ts'
import { RUNNER, worktreePath } from './schemas.ts'

const MOST_SESSIONS = 200

/** Of these sessions, those that are archived or no longer there, but for one in whose worktree a session works that is not. `paths`: the
 *  worktree that was made for each, in the same order; an order that was given up has left a worktree of which only its runner knows whose it
 *  was. Needs no registration, which would end a runner that is at work. */
export const listArchived = op({
  ...RUNNER,
  name: 'list_archived',
  summary: 'A runner asks which sessions are archived, before it removes their worktrees.',
  route: runnerRoute('archived'),
  effect: 'read',
  input: z.strictObject({
    session_ids: z.array(z.uuid()).min(1).max(MOST_SESSIONS),
    paths: z.array(worktreePath).max(MOST_SESSIONS).default([]),
  }),
  output: z.object({ archived: z.array(z.uuid()) }),
  refuses: ['forbidden'],
  run: async ({ queries }, { session_ids, paths }) => ({ archived: await archivedAmong(queries, session_ids, paths) }),
})
