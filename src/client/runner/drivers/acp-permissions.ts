// What an ACP agent asks permission for, answered as the session's permission mode has it.
import { listOr, objectOr, textOr, type Json } from '../../../transcripts/json.ts'
import type { Listener } from './driver.ts'
import type { Updates } from './acp-updates.ts'
import { isAllowedBy } from './ask.ts'
import { stayInWorktree } from './edited-paths.ts'
import { permissionOf, type PermissionRule } from './modes.ts'

const READING = new Set(['read', 'search', 'think', 'fetch'])
const EDITING = new Set(['edit', 'delete', 'move'])

interface Asking {
  listener: Listener
  updates: Updates
  permissionMode: string
  /** The task's. */
  folder: string
  /** A word to the agent. An answer has no place for one. */
  onWord(word: string, unanswered: boolean): void
  /** The key of a call that only a person could answer: a plan to agree to. */
  onQuestion(key: string): void
}

/** Answers session/request_permission. */
export const answerPermission = async (
  { toolCall, options }: Json,
  { listener, updates, permissionMode, folder, onWord, onQuestion }: Asking,
): Promise<object> => {
  const call = objectOr(toolCall)
  const { key, toolName, input, kind, paths } = updates.asked(call)
  if (kind === 'switch_mode') {
    onQuestion(key)
    return CANCELLED
  }
  const ask = () => isAllowedBy(listener, toolName, input, onWord)
  const isPlainEdit = () => EDITING.has(kind) && stayInWorktree(folder, paths)
  return choice(
    listOr(options).map(objectOr),
    isOwnSession(call, kind) || (await isAllowed(permissionOf(permissionMode), kind, isPlainEdit, ask)),
  )
}

const isAllowed = (
  rule: PermissionRule,
  kind: string,
  isPlainEdit: () => boolean,
  ask: () => Promise<boolean>,
): boolean | Promise<boolean> => {
  if (rule === 'all') return true
  if (rule === 'deny') return READING.has(kind)
  return (rule === 'edits' && isPlainEdit()) || ask()
}

// The tools of its own session: what it may do there is the hub's to decide. The title of a command is its text, which must not pass as one.
const isOwnSession = ({ title }: Json, kind: string) =>
  kind === 'other' && /^(?:parley[_.:]\w+|\w+ \(parley MCP Server\))$/.test(textOr(title) ?? '')

export const CANCELLED = { outcome: { outcome: 'cancelled' } }

const choice = (options: Json[], allow: boolean): object => {
  const kinds = allow ? ['allow_once', 'allow_always'] : ['reject_once', 'reject_always']
  const chosen = kinds.map((kind) => options.find((option) => option.kind === kind)).find((option) => option !== undefined)
  return chosen ? { outcome: { outcome: 'selected', optionId: chosen.optionId } } : CANCELLED
}
