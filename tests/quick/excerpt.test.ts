// The line with which search_content quotes what it found.
import { expect, test } from 'bun:test'
import { excerptAround } from '../../src/records/reading/excerpt.ts'

const FILLER = 'Nothing of it here. '.repeat(30)
const around = (found: string, query: string, filler = FILLER) => excerptAround(`${filler}${found} ${filler}`, query)

test.each([
  ['a word of a path', 'See src/lexer/spanTable.ts:12.', 'SpanTable'],
  ['a word of a name', 'Call getUserNameOf first.', 'username'],
  ['a word of a text without spaces', '我们保留重试上限。', '重试上限'],
  ['a misspelt word', 'The platypuses come.', 'platypusses'],
  ['a word of a name, though the longest word is nowhere', 'Call getUserNameOf first.', 'zzzzzzzzzz username'],
])('%s is quoted, however far on it stands', (_, found, query) => {
  const line = around(found, query, query === '重试上限' ? '没有。'.repeat(200) : FILLER)
  expect(line).toContain(found)
  expect(line.length).toBeLessThanOrEqual(300)
})

test('of several places, the one with most of the words is quoted', () => {
  expect(around(`A retry alone. ${FILLER} The retry limit is four.`, 'retry limit')).toContain('retry limit')
  expect(around(`A span alone. ${FILLER} See src/spanTable/limit.ts.`, 'spans spanTable limit')).toContain('src/spanTable/limit.ts')
})

test('a text with none of them is quoted from its beginning', () => {
  for (const query of ['zebra', ' ', '?!']) expect(excerptAround(`First. ${FILLER}`, query)).toStartWith('First.')
})
