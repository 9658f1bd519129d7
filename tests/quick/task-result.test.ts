import { expect, test } from 'bun:test'
import { smallerResults, wireResult } from '../../src/client/runner/task-result.ts'

test('what a task used is told in whole numbers, none of them below 0', () => {
  const told = (input: number, output: number, cost: number | null) => {
    const { usage } = wireResult({ status: 'completed', usage: { input_tokens: input, output_tokens: output, cost_usd: cost } }, true)
    return [usage!.input_tokens, usage!.output_tokens, usage!.cost_usd]
  }
  expect(told(12, 3, 0.25)).toEqual([12, 3, 0.25])
  expect(told(12.5, -3, -0.25)).toEqual([13, 0, 0])
  expect(told(Infinity, NaN, null)).toEqual([0, 0, null])
  expect(wireResult({ status: 'completed' }, true).usage).toBeUndefined()
})

test('a result that is refused gets smaller: its texts first, then its answer or what stands beside it, at last all but how it ended', () => {
  const [answer, message] = ['a'.repeat(40_000), 'm'.repeat(5_000_000)]
  const whole = wireResult({ status: 'failed', answer, error: { code: 'agent_failed', message }, conversation: 'c', branch: 'b' }, true)
  const all: any[] = smallerResults(whole)
  expect(all.map((result) => Object.keys(result).filter((name) => result[name] !== undefined))).toEqual([
    ['status', 'conversation', 'branch', 'answer', 'error'],
    ['status', 'conversation', 'branch', 'error'],
    ['status', 'answer', 'error'],
    ['status', 'error'],
  ])
  for (const result of all) expect(JSON.stringify(result).length).toBeLessThan(40_000)
  expect(all.at(-1).error.message).toEndWith('[… cut by the runner]')
  expect(smallerResults(wireResult({ status: 'completed' }, true))).toEqual([{ status: 'completed', error: undefined }])
})

test('what an earlier hub does not know is left out first, with the answer whole', () => {
  const usage = { input_tokens: null, output_tokens: null, cost_usd: 0.25 }
  const whole = wireResult({ status: 'completed', answer: 'Done.', branch: 'b', changed: 2, usage }, true)
  const [first, ...others]: any[] = smallerResults(whole)
  expect(whole).toMatchObject({ changed_files: 2, usage })
  expect(first).toMatchObject({ status: 'completed', answer: 'Done.', branch: 'b', usage })
  const unnamed = wireResult({ status: 'completed', answer: 'Done.', usage }, false) // nothing is left out there before the answer is
  expect(unnamed).toMatchObject({ answer: 'Done.', usage: { input_tokens: 0, output_tokens: 0, cost_usd: 0.25 } })
  for (const smaller of [first, ...others]) expect('changed_files' in smaller).toBe(false)
})
