// What the calls of runners share. Only a run key may make them; they are no tools.
import { z } from 'zod'
import { refuse } from '../../core/errors.ts'
import { key } from '../../operations/callers.ts'
import type { Context } from '../../operations/context.ts'
import { seeRunner } from '../../stores/control/runners.ts'
import { plainName } from '../schemas.ts'

export const RUNNER = { callers: [key], keyRow: 'runner', restOnly: true } as const

export const runnerId = z.uuid()
const path = z.string().min(1).max(4_096)
const gitName = z.string().max(255).nullable()

export const gitState = { branch: gitName, head: gitName }
export const namedWorktree = z.strictObject({
  path,
  repo_full_name: z.string().min(1).max(200),
  ...gitState,
  dirty: z.boolean().default(false),
  changed_files: z.int().min(0).nullable().default(null),
})
export const worktreePath = path
export const runnerName = plainName(100)

export const keyIdOf = ({ caller }: Context): string => {
  if (caller.kind !== 'key') throw new Error('perform lets only keys through to here')
  return caller.key.id
}

/** Renews the caller's lease. 409 for a runner that is unknown, or whose place another one took: it must end what it runs, and register. */
export const stillRunner = async (context: Context, id: string): Promise<void> => {
  if (!(await seeRunner(context.queries, id, keyIdOf(context)))) refuseReplaced(id)
}

export const refuseReplaced = (id: string): never =>
  refuse(
    'conflict',
    'This runner is not registered, or another one of its name has taken its place. End what you run, and register again.',
    {
      runner_id: id,
    },
  )
