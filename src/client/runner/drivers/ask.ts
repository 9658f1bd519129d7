// Asking for permission where the protocol's answer has no place for a word to the agent.
import { callLine } from '../../../core/events/tool-call.ts'
import type { Json } from '../../../transcripts/json.ts'
import type { Answer, Listener } from './driver.ts'
import { aboutPermission } from './prompt.ts'

/** Whether a person allows it. `tell` gets what was said with the answer; `unanswered`: that nobody has answered. */
export const isAllowedBy = async (
  listener: Listener,
  tool: string,
  input: Json,
  tell: (word: string, unanswered: boolean) => unknown,
): Promise<boolean> => {
  const { allow, message, unanswered = false } = await listener.ask({ tool, text: callLine(tool, input), input }).catch(() => NOT_ASKED)
  if (message) await tell(aboutPermission(tool, message), unanswered)
  return allow
}

const NOT_ASKED: Answer = { allow: false, message: undefined }
