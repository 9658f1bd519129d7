import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { MUTANTS } from './list.ts'

test('the text that a mutant changes stands in its file once, and its tests are there', () => {
  const stale = MUTANTS.filter(
    ({ file, from, tests }) => readFileSync(file, 'utf8').split(from).length !== 2 || !tests.every((path) => existsSync(path)),
  )
  expect(stale.map(({ name }) => name)).toEqual([])
})
