// A runner says that it ends.
import { z } from 'zod'
import { endLease } from '../../stores/control/runners.ts'
import { op, runnerRoute } from '../schemas.ts'
import { RUNNER, runnerId, stillRunner } from './schemas.ts'

/** Ends the lease of a runner, which is offline at once then, not a minute later. Its name and its worktrees stay its own, for when it registers
 *  again. Tasks that still run there are lost: a runner tells their end before. */
export const unregisterRunner = op({
  ...RUNNER,
  name: 'unregister_runner',
  summary: 'A runner says that it ends.',
  route: runnerRoute('unregister'),
  effect: 'write',
  input: z.strictObject({ runner_id: runnerId }),
  output: z.object({}),
  refuses: ['conflict', 'forbidden'],
  async run(context, { runner_id }) {
    await stillRunner(context, runner_id)
    await endLease(context.queries, runner_id)
    return {}
  },
})
