// What a task of an ACP agent cost, as far as the agent says.
import { isObject, objectOr, type Json } from '../../../transcripts/json.ts'
import type { Job, Usage } from './driver.ts'

/** Collects the agent's cost updates, each of which has the cost of its whole conversation: what it was before the prompt is subtracted. */
export const newAcpUsage = ({ conversation, fork }: Job) => {
  let before = conversation === undefined && fork === undefined ? 0 : undefined
  let cost: number | undefined
  return {
    onUpdate({ sessionUpdate, cost: reported }: Json, prompted: boolean) {
      const { amount, currency } = objectOr(reported)
      if (sessionUpdate !== 'usage_update' || typeof amount !== 'number' || currency !== 'USD') return
      if (prompted) cost = amount
      else before = amount
    },
    /** From the answer to the prompt: the protocol's own field, or Gemini CLI's. */
    total(ended: Json | undefined): { usage?: Usage } {
      const own = objectOr(ended?.usage)
      const { input_tokens, output_tokens } = objectOr(objectOr(objectOr(ended?._meta).quota).token_count)
      const input = number(own.inputTokens) ?? number(input_tokens)
      const output = number(own.outputTokens) ?? number(output_tokens)
      if (!isObject(ended) || (input === undefined && output === undefined)) return {}
      const cached = (number(own.cachedReadTokens) ?? 0) + (number(own.cachedWriteTokens) ?? 0)
      const cost_usd = cost === undefined || before === undefined ? null : cost - before
      return { usage: { input_tokens: (input ?? 0) + cached, output_tokens: output ?? 0, cost_usd } }
    },
  }
}

const number = (value: unknown) => (typeof value === 'number' ? value : undefined)
