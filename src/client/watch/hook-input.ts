// What a client hands its hook on standard input, and what an agent's shell hands `watch --learn`.
import { isUuid, parseToken } from '../../core/ids.ts'
import type { Machine } from '../machine.ts'

const LONGEST = 4 * 1024 * 1024
const DEEPEST = 6

/** The answer of create_session or join_session. */
export interface Joined {
  session_id: string
  team_id: string
}

export interface HookInput {
  /** The client's own id of the conversation; undefined where no hook calls. */
  conversation: string | undefined
  folder: string
  joined: Joined | undefined
  /** Codex' thread. */
  thread: string | undefined
  /** The file that a tool is about to edit. */
  file: string | undefined
}

/** Reads what is on standard input. Nothing, or what is no JSON, is as good as an empty object. */
export const readHookInput = async (machine: Machine): Promise<HookInput> => {
  const given = parsed(machine.input.isTTY ? '' : await textOf(machine.input))
  const isHook = typeof given.hook_event_name === 'string'
  const answer = answerIn(isHook ? given.tool_response : given, 0)
  return {
    conversation: isHook && typeof given.session_id === 'string' ? given.session_id : undefined,
    folder: typeof given.cwd === 'string' ? given.cwd : machine.folder,
    joined: answer && { session_id: answer.session_id, team_id: answer.team_id },
    thread: threadIn(answer?.wake_command),
    file: fileIn(given.tool_input),
  }
}

const textOf = async (input: NodeJS.ReadableStream): Promise<string> => {
  let text = ''
  for await (const chunk of input) if ((text += String(chunk)).length > LONGEST) return ''
  return text
}

const parsed = (text: string): Record<string, unknown> => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

// Clients hand an answer over as a text, as MCP's content, or as an object.
const answerIn = (value: unknown, depth: number): (Joined & { wake_command?: unknown }) | undefined => {
  if (depth > DEEPEST) return undefined
  if (typeof value === 'string') return value.includes('team_id') ? answerIn(parsed(value), depth + 1) : undefined
  if (typeof value !== 'object' || value === null) return undefined
  const { session_id, team_id } = value as Record<string, unknown>
  if (typeof session_id === 'string' && isUuid(session_id) && typeof team_id === 'string' && parseToken(team_id)) return value as Joined
  for (const inner of Object.values(value)) {
    const found = answerIn(inner, depth + 1)
    if (found) return found
  }
  return undefined
}

const fileIn = (input: unknown): string | undefined => {
  const { file_path, notebook_path } = (input ?? {}) as Record<string, unknown>
  const file = file_path ?? notebook_path
  return typeof file === 'string' ? file : undefined
}

const threadIn = (command: unknown): string | undefined => {
  const [, thread] = (typeof command === 'string' && /--thread ([0-9a-f-]{36})(?= |$)/.exec(command)) || []
  return thread !== undefined && isUuid(thread) ? thread : undefined
}
