// What the calls of runners share. Only a run key may make them; they are no tools.
import { z } from 'zod'
import { refuse } from '../../core/errors.ts'
import { NOBODY } from '../../core/key-scopes.ts'
import { LONGEST_NAME } from '../../core/text/text.ts'
import { key } from '../../operations/callers.ts'
import type { Context } from '../../operations/context.ts'
import { seeRunner } from '../../stores/control/runners.ts'
import { plainName } from '../schemas.ts'

export const RUNNER = { callers: [key], keyRow: { ...NOBODY, run: true }, restOnly: true } as const

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
export const runnerName = plainName(LONGEST_NAME)

export const keyIdOf = ({ caller }: Context): string => {
  if (caller.kind !== 'key') throw new Error('perform lets only keys through to here')
  return caller.key.id
}

/** Renews the caller's lease. 404 for a runner that is unknown, which registers again; 409 for one whose place another one took, which ends. */
export const stillRunner = async (context: Context, id: string): Promise<void> => {
  const found = await seeRunner(context.queries, id, keyIdOf(context))
  if (found === undefined)
    refuse('not_found', 'No runner is registered under this runner_id with this key. Register again.', { runner_id: id })
  if (found === 'replaced') refuseReplaced(id)
}

export const refuseReplaced = (id: string): never =>
  refuse(
    'conflict',
    'Another runner of this name has taken the place of this one. End what you run, and end: two of one name displace each other.',
    {
      runner_id: id,
    },
  )
