// What Claude Code says at the end of a turn. There may be several: a background agent that comes back begins another turn.
import { isObject, listOr, textOr, type Json } from '../../../transcripts/json.ts'
import { failed, type Result, type Usage } from './driver.ts'

/** How the turn ended. */
export const resultOf = (record: Json): Pick<Result, 'status' | 'answer' | 'error'> => {
  const answer = textOr(record.result)
  if (record.is_error !== true) return { status: 'completed', ...(answer !== undefined && { answer }) }
  return failed(answer ?? errorsOf(record))
}

// Claude Code's errors begin with diagnostics for its developers, which are left out.
const errorsOf = ({ errors, subtype }: Json) => {
  const said = listOr(errors).filter((error): error is string => typeof error === 'string')
  const meant = said.filter((error) => !error.startsWith('[ede_diagnostic]'))
  return (meant.length > 0 ? meant : said).join('\n') || `Claude Code ended its turn with ${textOr(subtype) ?? 'an error'}.`
}

/** The usage up to this result. `before`: up to the one before it, of the same process. */
export const usageOf = (record: Json, before: Usage | undefined): Usage => {
  // Since 2.1.330 `modelUsage` and `total_cost_usd` count the whole conversation, also what other processes did of it.
  const since = record.model_usage_since_last_result
  if (isObject(since)) return sum([...(before ? [before] : []), ...Object.values(since).filter(isObject).map(ofModel)])
  if (isObject(record.modelUsage)) return sum(Object.values(record.modelUsage).filter(isObject).map(ofModel))
  return before ?? sum([])
}

// What was read from a cache or written to one was read by the model, too.
const ofModel = (usage: Json): Usage => ({
  input_tokens: count(usage.inputTokens) + count(usage.cacheReadInputTokens) + count(usage.cacheCreationInputTokens),
  output_tokens: count(usage.outputTokens),
  cost_usd: typeof usage.costUSD === 'number' ? usage.costUSD : null,
})

const count = (value: unknown) => (typeof value === 'number' && value > 0 ? value : 0)

const sum = (usages: Usage[]): Usage => ({
  input_tokens: usages.reduce((all, { input_tokens }) => all + input_tokens, 0),
  output_tokens: usages.reduce((all, { output_tokens }) => all + output_tokens, 0),
  cost_usd: usages.some(({ cost_usd }) => cost_usd === null) ? null : usages.reduce((all, { cost_usd }) => all + cost_usd!, 0),
})
