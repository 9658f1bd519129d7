// Whether a call may read a session that it names beside its own: what the pages show, and the sessions of its team_id.
import type { Queries } from '../../db/database.ts'
import type { Call } from '../operations/call.ts'
import { memberByToken } from '../stores/members.ts'

export const mayReadBy = async (queries: Queries, call: Call, sessionId: string): Promise<boolean> =>
  call.mayRead?.() === true || (await memberByToken(queries, sessionId, call.token))?.left === false
