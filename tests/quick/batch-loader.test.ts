import { expect, test } from 'bun:test'
import { createBatchLoader } from '../../src/core/runtime/batch-loader.ts'

test('keys that are requested while a load is under way are loaded together', async () => {
  const loads: number[][] = []
  const gates: (() => void)[] = []
  const load = createBatchLoader(async (keys: number[]) => {
    loads.push(keys)
    await new Promise<void>((open) => gates.push(open))
    return keys.map((key) => key * 10)
  })
  const settle = () => Bun.sleep(1)
  const first = load(1)
  await settle()
  const later = [load(2), load(3)]
  await settle()
  later.push(load(4))
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
  const load = createBatchLoader(async (keys: string[]) => {
    if (fails) throw new Error('away')
    return keys
  })
  const answers = await Promise.allSettled([load('a'), load('b')])
  expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  fails = false
  expect(await load('c')).toBe('c')
})

test('a batch has at most 500 keys', async () => {
  const sizes: number[] = []
  const load = createBatchLoader(async (keys: number[]) => (sizes.push(keys.length), keys))
  const keys = Array.from({ length: 1_201 }, (_, i) => i)
  expect(await Promise.all(keys.map(load))).toEqual(keys)
  expect(sizes).toEqual([500, 500, 201])
})
