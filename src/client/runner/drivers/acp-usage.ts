// What a task of an ACP agent used, as far as the agent says.
import { objectOr, type Json } from '../../../transcripts/json.ts'
import type { AcpAgent } from './acp-agents.ts'
import type { Job, Result, Usage } from './driver.ts'

export type AcpUsage = ReturnType<typeof newAcpUsage>

/** Collects the agent's cost updates, each of which has the cost of its whole conversation: what it was before the prompt is subtracted. */
export const newAcpUsage = ({ countsLastCall }: AcpAgent, { conversation, fork, costBefore }: Job) => {
  let before = conversation === undefined && fork === undefined ? 0 : costBefore
  let cost: number | undefined
  let tokens: Tokens = UNCOUNTED
  let isUsed = false // its model was called: what is not told of that is not known, and not nothing
  return {
    onUpdate({ sessionUpdate, cost: reported }: Json, prompted: boolean) {
      const { amount, currency } = objectOr(reported)
      if (sessionUpdate !== 'usage_update' || typeof amount !== 'number' || currency !== 'USD') return
      if (prompted) [cost, isUsed] = [amount, true]
      else before = amount
    },
    /** `ended`: the answer to a prompt. */
    onEnd(ended: Json) {
      isUsed = true
      if (!countsLastCall) tokens = sum(tokens, tokensIn(ended))
    },
    total(): Pick<Result, 'usage' | 'conversationCost'> {
      // A cost below the one before: the agent counts anew in each process.
      const cost_usd = cost === undefined || before === undefined || cost < before ? null : cost - before
      return { ...(isUsed && { usage: { ...tokens, cost_usd } }), ...(cost !== undefined && { conversationCost: cost }) }
    },
  }
}

type Tokens = Omit<Usage<number | null>, 'cost_usd'>

const UNCOUNTED: Tokens = { input_tokens: null, output_tokens: null }

const sum = (one: Tokens, other: Tokens): Tokens =>
  other === UNCOUNTED
    ? one
    : {
        input_tokens: (one.input_tokens ?? 0) + (other.input_tokens ?? 0),
        output_tokens: (one.output_tokens ?? 0) + (other.output_tokens ?? 0),
      }

// The protocol's own field, or Gemini CLI's.
const tokensIn = (ended: Json): Tokens => {
  const own = objectOr(ended.usage)
  const { input_tokens, output_tokens } = objectOr(objectOr(objectOr(ended._meta).quota).token_count)
  const input = number(own.inputTokens) ?? number(input_tokens)
  const output = number(own.outputTokens) ?? number(output_tokens)
  if (input === undefined && output === undefined) return UNCOUNTED
  const cached = (number(own.cachedReadTokens) ?? 0) + (number(own.cachedWriteTokens) ?? 0)
  return { input_tokens: (input ?? 0) + cached, output_tokens: output ?? 0 }
}

const number = (value: unknown) => (typeof value === 'number' ? value : undefined)
