import { expect, test } from 'bun:test'
import { combine } from '../../src/core/batch-loader.ts'

test('what is asked for while a load is under way is loaded together', async () => {
  const loads: number[][] = []
  const gates: (() => void)[] = []
  const ask = combine(async (keys: number[]) => {
    loads.push(keys)
    await new Promise<void>((open) => gates.push(open))
    return keys.map((key) => key * 10)
  })
  const settle = () => Bun.sleep(1)
  const first = ask(1)
  await settle()
  const later = [ask(2), ask(3)]
  await settle()
  later.push(ask(4))
  await settle()
  expect(loads).toEqual([[1]])
  gates.shift()!()
  expect(await first).toBe(10)
  await settle()
  expect(loads).toEqual([[1], [2, 3, 4]])
  gates.shift()!()
  expect(await Promise.all(later)).toEqual([20, 30, 40])
})

test('a load that fails fails those who share it, and nobody else', async () => {
  let fails = true
  const ask = combine(async (keys: string[]) => {
    if (fails) throw new Error('away')
    return keys
  })
  const answers = await Promise.allSettled([ask('a'), ask('b')])
  expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  fails = false
  expect(await ask('c')).toBe('c')
})

test('a load takes no more than it may', async () => {
  const sizes: number[] = []
  const ask = combine(async (keys: number[]) => (sizes.push(keys.length), keys))
  const keys = Array.from({ length: 1_201 }, (_, i) => i)
  expect(await Promise.all(keys.map(ask))).toEqual(keys)
  expect(sizes).toEqual([500, 500, 201])
})
