// A conversation of Codex, which calls it a thread: begun, gone on with, or forked.
import { isObject, objectOr, textOr, wordOf, type Json } from '../../../transcripts/json.ts'
import type { Job } from './driver.ts'
import type { Peer } from './json-rpc.ts'
import { codexMode } from './modes.ts'

export interface Thread {
  id: string
  /** The file of its transcript. */
  path: string | undefined
}

/** Opens the conversation that the task wants. Rejects where Codex does not know it. */
export const openThread = async (peer: Peer, job: Job): Promise<Thread> => {
  const settings = settingsOf(job)
  const opened = await ask(peer, job, settings)
  const thread = objectOr(opened.thread)
  return { id: wordOf(thread.id), path: textOr(thread.path) }
}

const ask = (peer: Peer, { conversation, fork }: Job, settings: object): Promise<Json> => {
  if (conversation !== undefined) return peer.call('thread/resume', { threadId: conversation, excludeTurns: true, ...settings })
  if (fork === undefined) return peer.call('thread/start', settings)
  return peer.call('thread/fork', { threadId: fork.conversation, excludeTurns: true, lastTurnId: fork.at ?? null, ...settings })
}

// Without this it may ask its user nothing outside of a mode for plans: still behind a feature in 0.169.0.
const QUESTIONS = { default_mode_request_user_input: true }

// With approvals off it refuses each tool that does not say it only reads, rather than allow it.
const UNASKED = { default_tools_approval_mode: 'approve' }

// Over standard input, so that the key stands in no argument vector, no file and no environment.
const settingsOf = ({ folder, permissionMode, hub, mcpServers }: Job) => {
  const { sandbox, approvalPolicy } = codexMode(permissionMode)
  const parley = { url: hub.url, http_headers: { Authorization: `Bearer ${hub.key}` }, ...UNASKED }
  const servers = Object.entries(mcpServers).flatMap(([name, server]) =>
    isObject(server) ? [[name, { ...serverOf(server), ...(approvalPolicy === 'never' && UNASKED) }]] : [],
  )
  return { cwd: folder, sandbox, approvalPolicy, config: { features: QUESTIONS, mcp_servers: { ...Object.fromEntries(servers), parley } } }
}

// From the form that Claude Code made usual.
const serverOf = ({ type: _, headers, ...server }: Json): Json => ({ ...server, ...(headers !== undefined && { http_headers: headers }) })
