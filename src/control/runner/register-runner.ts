// A runner says that it is there, and what it has.
import { z } from 'zod'
import { refuse } from '../../core/errors.ts'
import { nameKey } from '../../core/text/text.ts'
import type { Context } from '../../operations/context.ts'
import type { Subject } from '../../operations/subject.ts'
import { lockText } from '../../../db/advisory-locks.ts'
import { moveOrders } from '../../stores/control/agents.ts'
import { endRunner, insertRunner, LEASE_S, lockRunnerNamed, otherNameOf } from '../../stores/control/runners.ts'
import { isGoodKey } from '../../stores/keys.ts'
import { runningTasksOn } from '../../stores/control/tasks.ts'
import { registerWorktrees } from '../../stores/control/worktrees.ts'
import { agenticTool, op, runnerRoute } from '../schemas.ts'
import { runnerTopic } from '../topics.ts'
import { loseTasks } from './lost.ts'
import { keyIdOf, namedWorktree, RUNNER, runnerId, runnerName, worktreePath } from './schemas.ts'

const MOST_WORKTREES = 200

const nameSubject = (name: string): Subject => ({
  key: `runner/${nameKey(name)}`,
  async lock(tx) {
    await lockText(tx, `runner/${nameKey(name)}`)
    return {}
  },
  missing: () => refuse('not_found', 'There is no such runner.'),
})

/** The same name with the same key takes the former runner's place: its worktrees keep their ids, and what it ran is lost. 409 for a name that
 *  is online under another key that is good, and for a key that belongs to a runner of another name. */
export const registerRunner = op({
  ...RUNNER,
  name: 'register_runner',
  summary: 'A runner says that it is there: its agents and worktrees.',
  route: runnerRoute('register'),
  effect: 'write',
  subject: ({ name }) => nameSubject(name),
  input: z.strictObject({
    name: runnerName,
    agents: z.array(z.strictObject({ agentic_tool: agenticTool, version: z.string().max(100).nullable().default(null) })).max(50),
    worktrees: z.array(namedWorktree).max(MOST_WORKTREES),
    mcp_servers: z.array(z.string().min(1).max(100)).max(100).default([]),
    allow_bypass: z.boolean().default(false),
    across: z.boolean().default(false),
    parallel: z.int().min(1).max(64).default(4),
  }),
  output: z.object({
    runner_id: runnerId,
    worktrees: z.array(z.object({ worktree_id: z.uuid(), path: worktreePath })),
    lease_s: z.literal(LEASE_S),
  }),
  refuses: ['conflict', 'forbidden'],
  async run(context, { name, agents, worktrees, mcp_servers, allow_bypass, across, parallel }) {
    const { queries } = context
    const id = crypto.randomUUID()
    const former = await formerOf(context, name)
    if (former) await endRunner(queries, former)
    await insertRunner(queries, {
      id,
      name,
      nameKey: nameKey(name),
      keyId: keyIdOf(context),
      agents,
      mcpServers: mcp_servers,
      allowBypass: allow_bypass,
      across,
      parallel,
    })
    const kept = await registerWorktrees(queries, id, former, worktrees)
    if (former) {
      await loseTasks(context, await runningTasksOn(queries, former))
      await moveOrders(queries, former, id)
      context.moved(runnerTopic(former))
    }
    return { runner_id: id, worktrees: kept, lease_s: LEASE_S }
  },
})

const formerOf = async (context: Context, name: string): Promise<string | undefined> => {
  const { queries } = context
  const keyId = keyIdOf(context)
  await lockText(queries, `runner of key/${keyId}`) // two names at once would both find none registered with it
  const other = await otherNameOf(queries, keyId, nameKey(name))
  if (other !== undefined)
    refuse(
      'conflict',
      `This key belongs to the runner ${other}. On the same machine start it as that one, with its worktrees: --name ${JSON.stringify(other)}. Another runner needs a key of its own: bun run key run NAME.`,
    )
  const there = await lockRunnerNamed(queries, nameKey(name))
  if (!there) return undefined
  // One whose key was revoked calls no more: whoever starts it again with another key need not wait for its lease.
  if (there.keyId !== keyId && there.online && (await isGoodKey(queries, there.keyId)))
    refuse(
      'conflict',
      `A runner named ${there.name} is online under another key. Choose another name with --name. If it is this one, which has ended, wait a minute and start it again.`,
    )
  return there.id
}
