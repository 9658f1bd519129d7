// What Codex asks while it works: permission for commands, edits, rights and tools of an MCP server, and questions to the user.
import { isObject, listOr, objectOr, shortId, textOr, wordOf, type Json } from '../../../transcripts/json.ts'
import { isAllowedBy } from './ask.ts'
import type { Listener } from './driver.ts'
import { METHOD_NOT_FOUND, RpcError } from './json-rpc.ts'

const CHANGES_KEPT = 50

/** A grant beyond the call stands first in its input: the hub cuts the end of a long one. `tell`: says a word to the agent while it works. An
 *  answer has no place for one. `onQuestion`: the call that asks the user something, which ends the task. */
export const newApprovals = (listener: Listener, tell: (word: string) => Promise<unknown>, onQuestion: (call: string) => void) => {
  const changes = new Map<string, unknown>() // edits that were announced: the request for permission names them alone
  const isAllowed = (tool: string, input: Json) => isAllowedBy(listener, tool, input, tell)
  const decision = async (tool: string, input: Json) => ({ decision: (await isAllowed(tool, input)) ? 'accept' : 'decline' })
  return {
    onNotification(method: string, params: Json) {
      const { type, id, changes: edits } = objectOr(params.item)
      if (method !== 'item/started' || type !== 'fileChange' || typeof id !== 'string') return
      changes.set(shortId(id), edits)
      for (const oldest of changes.keys()) if (changes.size > CHANGES_KEPT) changes.delete(oldest)
    },
    async answer(method: string, params: Json): Promise<object> {
      const { command, cwd, reason, itemId } = params
      if (method === 'item/commandExecution/requestApproval') {
        const { additionalPermissions, networkApprovalContext } = params // what is granted beyond the command
        const kind = params.kind === 'command' ? undefined : params.kind // input to one that runs, for instance
        return decision('exec_command', given({ kind, additionalPermissions, networkApprovalContext, command, cwd, reason }))
      }
      if (method === 'item/fileChange/requestApproval') {
        const edits = changes.get(shortId(wordOf(itemId)))
        return decision('apply_patch', given({ grantRoot: params.grantRoot, reason, path: pathsIn(edits), changes: edits }))
      }
      if (method === 'item/permissions/requestApproval') {
        const allow = await isAllowed('permissions', given({ description: reason, permissions: params.permissions, cwd }))
        return { permissions: allow ? grantable(params.permissions) : {}, scope: 'turn' }
      }
      if (method === 'mcpServer/elicitation/request') {
        const input = given({ description: params.message, server: params.serverName })
        const allow = params.serverName === 'parley' || (await isAllowed(wordOf(params.serverName), input))
        return { action: allow ? 'accept' : 'decline', content: allow ? {} : null, _meta: null }
      }
      if (method === 'item/tool/requestUserInput') {
        onQuestion(wordOf(itemId))
        return new Promise(() => {}) // the next prompt is the answer
      }
      throw new RpcError(`${method} is not known here.`, METHOD_NOT_FOUND)
    },
  }
}

const given = (input: Json): Json => Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined && value !== null))

const pathsIn = (edits: unknown) =>
  listOr(edits)
    .flatMap((edit) => (isObject(edit) ? (textOr(edit.path) ?? []) : []))
    .join(', ')

const grantable = (permissions: unknown): Json => given(objectOr(permissions))
