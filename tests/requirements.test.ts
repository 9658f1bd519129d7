import { expect, test } from 'bun:test'
import { Glob } from 'bun'
import { readFileSync } from 'node:fs'

// `[A14]`, `[P7 P9]`, `[B29-B35]`
const CITATION = /\[([A-Z]\d+(?:[ -][A-Z]\d+)*)\]/g
const CITING = '{src,db,components,public,bench,tests}/**/*.{ts,tsx,js,css}'

const idsIn = (text: string): string[] =>
  [...text.matchAll(CITATION)].flatMap(([, ids]) =>
    ids!.split(' ').flatMap((one) => {
      const [from, to] = one.split('-').map((id) => Number(id.slice(1)))
      return Array.from({ length: (to ?? from!) - from! + 1 }, (_, n) => `${one[0]}${from! + n}`)
    }),
  )

const listed = [...readFileSync('tests/requirements.md', 'utf8').matchAll(/^- \*\*([A-Z]\d+)\*\* \S/gm)].map(([, id]) => id!)
const cited = [...new Glob(CITING).scanSync('.')]
  .filter((path) => path !== 'tests/requirements.test.ts')
  .map((path) => ({ path, ids: idsIn(readFileSync(path, 'utf8')) }))

test('whatever code and tests cite is a line of requirements.md', () => {
  expect(cited.flatMap(({ path, ids }) => ids.filter((id) => !listed.includes(id)).map((id) => `${path} cites ${id}`))).toEqual([])
})

test('every line of requirements.md is cited by a test, and stands there once', () => {
  const inTests = new Set(cited.filter(({ path }) => path.endsWith('.test.ts')).flatMap(({ ids }) => ids))
  expect(listed.filter((id) => !inTests.has(id))).toEqual([])
  expect(listed).toEqual([...new Set(listed)])
})
