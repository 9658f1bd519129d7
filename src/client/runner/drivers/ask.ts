// Asking for permission where the protocol's answer has no place for a word to the agent.
import { callLine } from '../../../core/events/tool-call.ts'
import type { Json } from '../../../transcripts/json.ts'
import type { Listener } from './driver.ts'
import { aboutPermission } from './prompt.ts'

/** Whether a person allows it. `tell` gets what was said with the answer. */
export const isAllowedBy = async (listener: Listener, tool: string, input: Json, tell: (word: string) => unknown): Promise<boolean> => {
  const { allow, message } = await listener.ask({ tool, text: callLine(tool, input), input }).catch(() => NOT_ASKED)
  if (message) await tell(aboutPermission(tool, message))
  return allow
}

const NOT_ASKED = { allow: false, message: undefined }
