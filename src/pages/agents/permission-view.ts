// What agents ask permission for, as the cards show it.
import type { PermissionView } from '../../../components/agents/agent-view.ts'
import { NOBODY } from '../../control/permissions/decide.ts'
import { sha256 } from '../../core/ids.ts'
import type { WatchedRequest } from '../../stores/control/watched.ts'

/** The element's id of a request's card: a request's own id may be any text. */
export const cardAnchor = (requestId: string): string => `p${sha256(requestId).slice(0, 12)}`

/** `waitS`: PERMISSION_WAIT. */
export const permissionView = (request: WatchedRequest, waitS: number): PermissionView => {
  const { session_id, request_id, tool_name, text, input, raise, seconds, decided, waits } = request
  const left = Math.max(0, Math.ceil(waitS - seconds))
  return {
    session: session_id,
    request: request_id,
    anchor: cardAnchor(request_id),
    tool: tool_name,
    text,
    input: inputText(input, text),
    raise: raise?.to,
    left: decided || !waits || left === 0 ? undefined : left,
    decided: decided
      ? {
          by: request.decided_by === NOBODY ? undefined : (request.decided_by ?? undefined),
          allow: request.allow === true,
          message: request.message || undefined,
        }
      : undefined,
  }
}

const inputText = (input: unknown, text: string): string | undefined => {
  if (typeof input !== 'object' || input === null || Object.keys(input).length === 0) return undefined
  const json = JSON.stringify(input, null, 2)
  return Object.keys(input).length === 1 && Object.values(input)[0] === text ? undefined : json
}
