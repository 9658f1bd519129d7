// What agents that came by an invitation may send, although they have no access token.
import { unauthorized } from '../../core/errors.ts'
import { isCode, NOT_INVITED } from '../../rooms/invitations.ts'
import type { Services } from '../../process/services.ts'
import type { Http } from '../http/http.ts'

// The methods by which a client connects, of each revision, and what it shows of prompts. They disclose no session.
const CONNECTING = new Set([
  'initialize',
  'server/discover',
  'ping',
  'tools/list',
  'prompts/list',
  'prompts/get',
  'completion/complete',
  'resources/list',
  'resources/templates/list',
])
const isConnecting = (method: unknown) => typeof method === 'string' && (CONNECTING.has(method) || method.startsWith('notifications/'))

/** Refuses a request without the access token, unless each of its messages may pass. A client connects with an invitation's code, of whatever
 *  age, in X-Invite; a call of a tool that brings a code or a team_id is judged by `perform`. */
export const refuseUninvited = async (c: Http, services: Services, messages: any[]): Promise<void> => {
  const refuseTokenless = c.get('refuseTokenless')
  if (!refuseTokenless) return
  const inHeader = c.req.header('x-invite')
  const known = inHeader !== undefined && (await isCode(services, inHeader))
  const mayPass = (message: any): boolean => {
    if (message?.method !== 'tools/call') return known && isConnecting(message?.method)
    const { name, arguments: given = {} } = message.params ?? {}
    return known || c.req.header('x-team-id') !== undefined || !!given?.team_id || !!given?.invite || name === 'wait_for_any'
  }
  if (messages.length > 0 && messages.every(mayPass)) return
  if (inHeader !== undefined && !known) unauthorized(NOT_INVITED)
  refuseTokenless()
}
