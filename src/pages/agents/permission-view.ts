// What agents ask permission for, as the cards show it.
import type { PermissionView } from '../../../components/agents/agent-view.ts'
import { TASK_ENDED, TOO_LATE } from '../../control/permissions/decide.ts'
import { callLine, callText } from '../../core/events/tool-call.ts'
import { sha256 } from '../../core/ids.ts'
import type { WatchedRequest } from '../../stores/control/watched.ts'

/** The element's id of a request's card: a request's own id may be any text. */
export const cardAnchor = (requestId: string): string => `p${sha256(requestId).slice(0, 12)}`

/** `waitS`: PERMISSION_WAIT. */
export const permissionView = (request: WatchedRequest, waitS: number): PermissionView => {
  const { session_id, request_id, tool_name, raise, seconds, decided, waits } = request
  const left = Math.max(0, Math.ceil(waitS - seconds))
  return {
    session: session_id,
    request: request_id,
    anchor: cardAnchor(request_id),
    tool: tool_name,
    ...wordsOf(request),
    raise: raise?.to,
    left: decided || !waits || left === 0 ? undefined : left,
    decided: byPerson(request),
    over: decided ? request.decided_by === TASK_ENDED.by : !waits,
  }
}

const byPerson = ({ decided, decided_by: by, allow, message }: WatchedRequest): PermissionView['decided'] =>
  !decided || by === null || by === TOO_LATE.by || by === TASK_ENDED.by
    ? undefined
    : { by, allow: allow === true, message: message || undefined }

// Runners send a call as a line, cut and without its line breaks, in which a command can look like another one: it is shown as it is. Where the
// line is none of this call, or more than the call is asked for, all of it is open.
const wordsOf = ({ tool_name, text, input }: WatchedRequest): Pick<PermissionView, 'text' | 'call'> => {
  if (typeof input !== 'object' || input === null || Object.keys(input).length === 0) return { text, call: undefined }
  const [first, ...others] = Object.values(input)
  // A call that was too long has this field alone; beside others it is an argument.
  if ('cut' in input && others.length === 0 && typeof first === 'string') return { text, call: { text: first, cut: true, open: true } }
  const isKnown = callLine(tool_name, input) === text
  const isAll = others.length === 0 && typeof first === 'string' && (isKnown || first === text)
  const call = { text: JSON.stringify(input, null, 2), cut: false, open: !isKnown || GRANTS.some((name) => name in input) }
  return { text: isKnown ? callText(tool_name, input) : text, call: isAll ? undefined : call }
}

// What Codex asks for beyond a command or an edit, and that it is no command of its own: input to one that runs.
const GRANTS = ['kind', 'additionalPermissions', 'networkApprovalContext', 'grantRoot']
