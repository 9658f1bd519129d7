// The folders that runners have registered, each with its repository.
import { and, eq, isNull, sql } from 'drizzle-orm'
import type { Queries } from '../../../db/database.ts'
import { worktrees } from '../../../db/control-schema.ts'
import { pgArray } from '../../../db/arrays.ts'
import { isUuid } from '../../core/ids.ts'
import type { Session } from '../sessions.ts'
import { isOnline } from './runners.ts'
import type { ListPosition } from '../list-position.ts'

/** A folder with its repository, as its runner names it. */
export interface Checkout {
  path: string
  repo_full_name: string
  branch: string | null
  head: string | null
  dirty: boolean
  changed_files: number | null
}

/** A worktree with the runner that has it. */
export interface WorktreeRow extends Checkout {
  worktree_id: string
  runner_id: string
  runner_name: string
  online: boolean
  seen_at: string
  agents: { agentic_tool: string; version: string | null }[]
  mcp_servers: string[]
  allow_bypass: boolean
  across: boolean
  registered_at: string
}

const OF_RUNNERS = `
select w.id as worktree_id, w.path, w.repo_full_name, w.branch, w.head, w.dirty, w.changed_files, r.id as runner_id, r.name as runner_name,
  ${isOnline('r')} as online, r.seen_at, r.agents, r.mcp_servers, r.allow_bypass, r.across,
  w.registered_at
from worktrees w join runners r on r.id = w.runner_id and r.ended_at is null`
const ROWS = `${OF_RUNNERS} where w.gone_at is null`

/** The worktree of this id, while its runner names it. */
export const worktreeById = async ({ query }: Queries, id: string): Promise<WorktreeRow | undefined> =>
  isUuid(id) ? (await query<WorktreeRow>(`${ROWS} and w.id = $1`, [id]))[0] : undefined

/** The worktree that a session's agent works in, while its runner names it. */
export const worktreeOf = async (queries: Queries, { worktreeId }: Pick<Session, 'worktreeId'>): Promise<WorktreeRow | undefined> =>
  worktreeId === null ? undefined : worktreeById(queries, worktreeId)

/** The worktree of this id, if its runner no longer names it. */
export const goneWorktree = async ({ query }: Queries, id: string): Promise<WorktreeRow | undefined> =>
  (await query<WorktreeRow>(`${OF_RUNNERS} where w.gone_at is not null and w.id = $1`, [id]))[0]

/** The worktrees of a repository, of online runners first, then the newest. */
export const worktreesOf = ({ query }: Queries, repoFullName: string): Promise<WorktreeRow[]> =>
  query(`${ROWS} and w.repo_full_name = $1 order by online desc, w.registered_at desc, w.id`, [repoFullName])

export interface WorktreeFilter {
  repo?: string | undefined
  online?: boolean | undefined
  /** Only this runner's, and with `beside` of this repository: what an agent may use. */
  runner?: string | undefined
  beside?: string | undefined
  /** Registered before that, or of the same time and with a smaller id: where the page before ended. */
  after?: ListPosition | undefined
  limit: number
}

/** The newest worktrees first. */
export const listWorktreeRows = (
  { query }: Queries,
  { repo, online, runner, beside, after, limit }: WorktreeFilter,
): Promise<WorktreeRow[]> =>
  query(
    `${ROWS} and ($1::text is null or w.repo_full_name = $1)
     and ($2::bool is null or ${isOnline('r')} = $2) and ($3::timestamptz is null or (w.registered_at, w.id) < ($3, $4::uuid))
     and ($5::uuid is null or r.id = $5) and ($6::text is null or w.repo_full_name = $6)
     order by w.registered_at desc, w.id desc limit $7::int`,
    [repo ?? null, online ?? null, after?.at ?? null, after?.id ?? null, runner ?? null, beside ?? null, limit],
  )

/** Makes these the worktrees of a runner. Those that `former` had keep their ids; those that it had and this one does not name are gone. */
export const registerWorktrees = async (
  queries: Queries,
  runnerId: string,
  former: string | undefined,
  named: readonly Checkout[],
): Promise<{ worktree_id: string; path: string }[]> => {
  if (former !== undefined) await queries.db.update(worktrees).set({ runnerId }).where(eq(worktrees.runnerId, former))
  await queries.query(
    'update worktrees set gone_at = clock_timestamp() where runner_id = $1 and gone_at is null and not path = any($2::text[])',
    [runnerId, pgArray(named.map(({ path }) => path))],
  )
  const kept: { worktree_id: string; path: string }[] = []
  for (const worktree of named) kept.push({ worktree_id: await saveWorktree(queries, runnerId, worktree), path: worktree.path })
  return kept
}

/** Saves what a runner says of one of its worktrees; returns its id. */
export const saveWorktree = async ({ db }: Queries, runnerId: string, named: Checkout, madeForSessionId?: string): Promise<string> => {
  const { path, repo_full_name: repoFullName, branch, head, dirty, changed_files: changedFiles } = named
  const place = { repoFullName, branch, head, goneAt: null }
  const now = { ...place, dirty, changedFiles }
  // A worktree that was there before is not as clean as a new one. It may have been made for this session, and registered by its runner's next
  // start after the answer to the order was lost.
  const wanted = { ...place, madeForSessionId: sql`coalesce(${worktrees.madeForSessionId}, excluded.made_for_session_id)` }
  const [row] = await db
    .insert(worktrees)
    .values({ id: crypto.randomUUID(), runnerId, path, madeForSessionId: madeForSessionId ?? null, ...now })
    .onConflictDoUpdate({ target: [worktrees.runnerId, worktrees.path], set: madeForSessionId === undefined ? now : wanted })
    .returning({ id: worktrees.id })
  return row!.id
}

/** Takes a worktree out of what its runner offers, until the runner names it again. A worktree with queued tasks stays: they are handed out,
 *  and the runner ends each with the reason. */
export const setGone = async ({ query }: Queries, id: string, runnerId: string): Promise<void> => {
  await query('select from worktrees where id = $1 for update', [id]) // a task that is being queued there is seen (new-tasks.ts)
  await query(
    `update worktrees w set gone_at = clock_timestamp() where id = $1 and runner_id = $2 and gone_at is null and not exists (
       select from tasks t join sessions s on s.id = t.session_id where s.worktree_id = w.id and t.status = 'queued')`,
    [id, runnerId],
  )
}

/** What a task left in its worktree. */
export const setGitState = async (
  { db }: Queries,
  id: string,
  state: Partial<Pick<typeof worktrees.$inferSelect, 'branch' | 'head' | 'dirty' | 'changedFiles'>>,
): Promise<void> => {
  if (Object.keys(state).length > 0)
    await db
      .update(worktrees)
      .set(state)
      .where(and(eq(worktrees.id, id), isNull(worktrees.goneAt)))
}
