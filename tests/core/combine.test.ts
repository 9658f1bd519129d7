import { expect, test } from 'bun:test'
import { combine } from '../../src/core/combine.ts'

test('what is asked for while loads are under way is loaded together', async () => {
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
  const second = ask(2)
  await settle()
  const later = [ask(3), ask(4), ask(5)]
  await settle()
  expect(loads).toEqual([[1], [2]])
  gates.shift()!()
  expect(await first).toBe(10)
  await settle()
  expect(loads).toEqual([[1], [2], [3, 4, 5]])
  for (const open of gates) open()
  expect(await Promise.all([second, ...later])).toEqual([20, 30, 40, 50])
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
  const ask = combine(async (keys: number[]) => (sizes.push(keys.length), keys), { atOnce: 1, most: 3 })
  expect(await Promise.all([1, 2, 3, 4, 5, 6, 7].map(ask))).toEqual([1, 2, 3, 4, 5, 6, 7])
  expect(Math.max(...sizes)).toBe(3)
})
