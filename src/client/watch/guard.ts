// `watch --guard`: what Claude Code asks before its agent edits a file. An edit of what another team of the session holds on the board is
// refused; where the hub does not answer at once, everything passes.
import { existsSync } from 'node:fs'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { baseOfLink } from '../../core/address.ts'
import { escapeInvisible } from '../../core/text/escape-invisible.ts'
import { pathCovers } from '../../core/text/path-overlap.ts'
import { askHub, Unreachable } from '../hub.ts'
import type { Machine } from '../machine.ts'
import { keptToken } from '../tokens.ts'
import { readHookInput } from './hook-input.ts'
import { ancestorsOf } from './processes.ts'
import { entriesFor, handleOf, type Entry } from './sessions.ts'

const WITHIN_MS = 1_000 // in all: an edit must not wait for a hub that is slow or away

/** Writes the hook's answer where the edit is refused, and nothing where it passes. */
export const guardEdit = async (machine: Machine, link: string): Promise<void> => {
  const { conversation, folder, file } = await readHookInput(machine)
  const path = file === undefined ? undefined : inProject(file, folder)
  if (path === undefined) return
  const entries = entriesFor(machine.home, link, { ancestors: ancestorsOf(machine.pid), conversation, folder })
  const token = keptToken(machine.home, link)
  const signal = AbortSignal.timeout(WITHIN_MS)
  const own = new Set(entries.map(handleOf))
  const held = await Promise.all(entries.map((entry) => holderOf(path, entry, own, { token, signal })))
  const reason = held.find((one) => one !== undefined)
  if (reason !== undefined) machine.out.write(`${JSON.stringify(denial(reason))}\n`)
}

const denial = (permissionDecisionReason: string) => ({
  hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason },
})

/** The file from the root of its repository, or from the folder that the agent works in; undefined outside of both. */
const inProject = (file: string, folder: string): string | undefined => {
  const path = resolve(folder, file)
  const from = relative(repositoryOf(path) ?? folder, path)
  return from === '' || isAbsolute(from) || from.split(sep)[0] === '..' ? undefined : from.split(sep).join('/')
}

const repositoryOf = (path: string): string | undefined => {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if (existsSync(join(folder, '.git'))) return folder
    if (folder === dirname(folder)) return undefined
  }
}

interface HubAccess {
  token: string | undefined
  signal: AbortSignal
}

// Why the edit is refused. What the agent itself holds it edits, also where it took that knowingly. `own`: the handles of its teams; one
// that has joined anew, as after a compaction, has two.
const holderOf = async (path: string, entry: Entry, own: Set<string>, access: HubAccess): Promise<string | undefined> => {
  try {
    const held = (await claimedItems(entry, access)).filter(({ paths }) => paths.some((each) => pathCovers(each, path)))
    const [item] = held
    if (!item || held.some(({ claimed_by }) => own.has(claimed_by.team_id)) || (await isClosed(entry, access))) return undefined
    const [team, title] = [item.claimed_by.team_name, item.title].map(shown)
    return `${path} belongs to work that another team of session ${entry.session_id} holds: ${team}, item ${item.item_id} (${title}). Leave it to that team, ask it with post_message, or take work of your own with claim_work.`
  } catch (error) {
    if (error instanceof Unreachable) return undefined
    throw error
  }
}

// A peer's words, as a name and no more.
const shown = (text: string): string => JSON.stringify(escapeInvisible(text).slice(0, 100))

interface ClaimedItem {
  item_id: string
  title: string
  paths: string[]
  claimed_by: { team_id: string; team_name: string }
}

const claimedItems = async (entry: Entry, access: HubAccess): Promise<ClaimedItem[]> => {
  const items: unknown[] = []
  for (let cursor: string | undefined = ''; cursor !== undefined;) {
    const query = new URLSearchParams({ status: 'claimed', limit: '50', ...(cursor && { cursor }) })
    const body = await ask(entry, `/work?${query}`, access)
    items.push(...(Array.isArray(body?.items) ? body.items : []))
    cursor = typeof body?.next_cursor === 'string' ? body.next_cursor : undefined
  }
  return items.filter(isClaimed)
}

const isClosed = async (entry: Entry, access: HubAccess): Promise<boolean> => (await ask(entry, '', access))?.status === 'closed'

const ask = async ({ link, session_id, team_id }: Entry, path: string, { token, signal }: HubAccess): Promise<any> =>
  (await askHub(baseOfLink(link), `/api/sessions/${session_id}${path}`, { token, team: team_id, withinMs: WITHIN_MS, signal })).body

const isClaimed = (item: any): item is ClaimedItem =>
  Array.isArray(item?.paths) &&
  item.paths.every((path: unknown) => typeof path === 'string') &&
  [item.item_id, item.title, item.claimed_by?.team_id, item.claimed_by?.team_name].every((text) => typeof text === 'string')
