// Writes down that a proposal is expired because nobody decided in time. It is so for every reader by the database's clock, from that
// moment on; the event is written once, by this job or by the first write to the session's proposals after that.
import { z } from 'zod'
import type { Job } from '../core/runtime/job.ts'
import { anyone } from '../operations/callers.ts'
import type { Context } from '../operations/context.ts'
import { perform } from '../operations/perform.ts'
import type { Services } from '../process/services.ts'
import { sessionsWithOverdue, writeExpired } from '../stores/records/proposals.ts'
import { appendExpired } from './proposals/append-events.ts'
import { internalOp } from './schemas.ts'

const EVERY_MS = 4_000 // the event is there within 5 s
const SESSIONS_AT_ONCE = 100

/** Writes down what is overdue in a session that the caller has locked. */
export const expireOverdue = async (context: Context, sessionId: string): Promise<number> => {
  const expired = await writeExpired(context.queries, sessionId)
  for (const proposal of expired) await appendExpired(context, proposal)
  return expired.length
}

const expireProposals = internalOp({
  name: 'expire_proposals',
  summary: 'Writes down which proposals of a session are expired.',
  callers: [anyone],
  effect: 'write',
  input: z.strictObject({ session_id: z.uuid() }),
  output: z.object({ expired: z.int() }),
  refuses: [],
  run: async (context, { session_id }) => ({ expired: await expireOverdue(context, session_id) }),
})

export const expiryJob = (services: Services): Job => ({
  name: 'proposals-expiry',
  everyMs: EVERY_MS,
  async run() {
    const call = { signal: () => services.stopping }
    for (const session_id of await sessionsWithOverdue(services.database, SESSIONS_AT_ONCE))
      await perform(expireProposals, services, call, { session_id })
  },
})
