// What a CLI tells and asks while it works, as the hub is told and asked.
import { randomUUID } from 'node:crypto'
import { pause } from '../../core/runtime/pause.ts'
import { cutAt } from '../../core/text/cut-at.ts'
import { shortId } from '../../transcripts/json.ts'
import type { TraceEvent } from '../../transcripts/trace-event.ts'
import type { Listener } from './drivers/driver.ts'
import { HELD_S, HELD_WITHIN_MS, Refused, type HubCalls } from './hub-calls.ts'
import { small, type Outbox, type WireEvent } from './outbox.ts'
import type { Redact } from './secrets.ts'

const BETWEEN_MS = 100
const LARGEST_QUESTION = 64 * 1024 // bytes of a question's input: the hub cuts what its card does not show (control/runner/ask-permission.ts)
const LONGEST_TEXT = 10_000 // characters of a question; its card shows 2,000
// What a runner may write (control/runner/add-task-events.ts). The rest of what readers of transcripts make, the prompt among it, is in the log already.
const REPORTED = ['assistant_response', 'reasoning', 'tool_call', 'tool_response', 'compaction', 'runtime', 'unknown']

export interface Telling {
  hub: HubCalls
  of: { runner_id: string; task_id: string }
  outbox: Outbox
  redact: Redact
  refused(error: unknown): void
  signal: AbortSignal
}

/** `refused` is called when the hub takes no more of the task. */
export const listenerFor = ({ hub, of, outbox, redact, refused, signal }: Telling): Listener => ({
  event(key, event) {
    if (REPORTED.includes(event.type)) outbox.add(redact(wireEvent(key, event)))
  },
  async ask({ tool, text, input }) {
    const named = { tool_name: cutAt(tool, LONGEST_NAME) || 'a tool', text: cutAt(text, LONGEST_TEXT) }
    const question = redact({ request_id: randomUUID(), ...named, input: small(input ?? {}, LARGEST_QUESTION) })
    try {
      await outbox.drained() // what led to the question stands before it
      for (;;) {
        const asking = { signal, withinMs: HELD_WITHIN_MS }
        const answer: any = await hub.ask('ask', () => ({ ...of, ...question, timeout: HELD_S }), asking)
        if (typeof answer?.allow === 'boolean')
          return { allow: answer.allow, message: answer.message ?? undefined, ...(answer.unanswered === true && { unanswered: true }) }
        await pause(BETWEEN_MS)
      }
    } catch (error) {
      if (error instanceof Refused && error.status !== 400) refused(error)
      return {
        allow: false,
        unanswered: true,
        message: signal.aborted ? 'The task was ended.' : `Nobody could be asked: ${(error as Error).message}`,
      }
    }
  },
})

const LONGEST_TIME = 40 // characters, as the hub takes it
const LONGEST_NAME = 1_000 // of a tool or a model, as the hub takes it; it keeps less

const wireEvent = (key: string, { type, content, at, toolName, model }: TraceEvent): WireEvent => ({
  key: shortId(key),
  type,
  content,
  ...(typeof at === 'string' && at.length <= LONGEST_TIME && { at }),
  ...(toolName !== undefined && { tool_name: cutAt(toolName, LONGEST_NAME) }),
  ...(model !== undefined && { model: cutAt(model, LONGEST_NAME) }),
})
