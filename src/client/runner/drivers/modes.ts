// What a session's permission mode is to each agent: the names come from several agents, and any of them is taken for any agent.
import type { PermissionMode } from '../../../core/permission-modes.ts'

/** Codex asks for its mode in two parts, and has no `on-failure` any more. */
export interface CodexMode {
  sandbox: 'read-only' | 'workspace-write'
  approvalPolicy: 'untrusted' | 'on-request' | 'never'
}

/** How a request for permission is answered where an agent does not know the mode itself. */
export type PermissionRule = 'deny' | 'ask' | 'edits' | 'all'

interface Row {
  claude: string
  /** As an ACP agent may call it, the closest name first. */
  acp: readonly string[]
  codex: CodexMode
  permission: PermissionRule
}

const READ_ONLY: CodexMode = { sandbox: 'read-only', approvalPolicy: 'untrusted' }
const ON_REQUEST: CodexMode = { sandbox: 'workspace-write', approvalPolicy: 'on-request' }
const NEVER: CodexMode = { sandbox: 'workspace-write', approvalPolicy: 'never' }

const ASK: Row = { claude: 'default', acp: ['default'], codex: READ_ONLY, permission: 'ask' }
const EDITS: Row = { claude: 'acceptEdits', acp: ['acceptEdits', 'autoEdit', 'auto_edit'], codex: ON_REQUEST, permission: 'edits' }
const ALL: Row = { claude: 'bypassPermissions', acp: ['bypassPermissions', 'yolo'], codex: NEVER, permission: 'all' }

const MODES: Record<PermissionMode, Row> = {
  plan: { claude: 'plan', acp: ['plan'], codex: READ_ONLY, permission: 'deny' },
  default: ASK,
  ask: ASK,
  acceptEdits: EDITS,
  auto: EDITS,
  'on-failure': EDITS,
  bypassPermissions: ALL,
  'allow-all': ALL,
}

const rowOf = (mode: string): Row | undefined => (Object.hasOwn(MODES, mode) ? MODES[mode as PermissionMode] : undefined)

/** Claude Code's name of a mode. One that is not ours passes through: the CLI says whether it knows it. */
export const claudeMode = (mode: string): string => rowOf(mode)?.claude ?? mode

/** Codex' sandbox and approvals. A mode that is not ours asks for everything. */
export const codexMode = (mode: string): CodexMode => rowOf(mode)?.codex ?? READ_ONLY

/** The id, among those that an ACP agent announces, that means the mode; undefined: it has none, and its requests are answered by
 *  `permissionOf`. A mode that is not ours means none of them: by the agent's own name for it, a server could switch off what --allow-bypass
 *  keeps. */
export const announcedMode = (mode: string, announced: readonly string[]): string | undefined => {
  const row = rowOf(mode)
  return row && [mode, ...row.acp].find((id) => announced.includes(id))
}

/** How requests for permission are answered where the agent cannot be told the mode. */
export const permissionOf = (mode: string): PermissionRule => rowOf(mode)?.permission ?? 'ask'
