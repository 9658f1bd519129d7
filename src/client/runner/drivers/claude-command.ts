// The words that Claude Code is started with, and the file in which it finds the hub.
import { randomUUID } from 'node:crypto'
import { writeKeyFile } from '../key-files.ts'
import type { Job } from './driver.ts'
import { claudeMode } from './modes.ts'

// `--permission-prompt-tool stdio` is not in its help. Without it `-p` has no AskUserQuestion and no ExitPlanMode, and denies in silence.
const PROTOCOL =
  '-p --input-format stream-json --output-format stream-json --verbose --permission-prompt-tool stdio --strict-mcp-config'.split(' ')

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Whether a conversation, and a message of it, can be named to Claude Code. An id of another shape could be taken as an option. */
export const canBeNamed = ({ conversation, fork }: Job) =>
  [conversation, fork?.conversation, fork?.at].every((id) => id === undefined || UUID.test(id))

/** Its command line: nothing in there is from a request but ids that were checked. */
export const claudeCommand = (job: Job, mcpFile: string): string[] => [
  'claude',
  ...PROTOCOL,
  '--mcp-config',
  mcpFile,
  '--permission-mode',
  claudeMode(job.permissionMode),
  ...conversationWords(job),
]

const conversationWords = ({ conversation, fork }: Job): string[] => {
  if (conversation !== undefined) return ['--resume', conversation]
  const fresh = ['--session-id', randomUUID()]
  if (fork === undefined) return fresh
  return ['--resume', fork.conversation, '--fork-session', ...fresh, ...(fork.at === undefined ? [] : ['--resume-session-at', fork.at])]
}

/** A file with the MCP servers and the key to the hub. */
export const writeMcpFile = ({ hub, mcpServers }: Job): { file: string; drop: () => void } => {
  const parley = { type: 'http', url: hub.url, headers: { Authorization: `Bearer ${hub.key}` } }
  return writeKeyFile('mcp.json', JSON.stringify({ mcpServers: { ...mcpServers, parley } }))
}
