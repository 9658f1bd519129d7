import { expect, test } from 'bun:test'
import { toPlainText } from '../../src/markdown/plain-text.ts'
import { cpuMs } from '../support/cpu.ts'

const lines = (...text: string[]) => text.join('\n')

test('headings, quotes and fences lose their marks, and lines become one', () => {
  expect(toPlainText('# The plan')).toBe('The plan')
  expect(toPlainText('\r\n \r\n   ### The plan\r\n\r\nWe begin.\r\n')).toBe('The plan We begin.')
  expect(toPlainText(lines('> said so', '> twice'))).toBe('said so twice')
  expect(toPlainText(lines('Run', '```ts', 'const a = 1', '```', 'and', '~~~', 'b', '~~~'))).toBe('Run const a = 1 and b')
  expect(toPlainText('####### seven, #tag and C# stay')).toBe('####### seven, #tag and C# stay')
})

test('list items lose their marks and boxes, however deep they stand', () => {
  expect(toPlainText(lines('- one', '* two', '+ three', '1. four', '23) five'))).toBe('one two three four five')
  expect(toPlainText(lines('- [ ] open', '\t- [x] done', '- [X]   done too'))).toBe('open done done too')
  expect(toPlainText(lines('', '', '\u00a0 - after blank lines'))).toBe('after blank lines')
  expect(toPlainText('-1 and 2.5 and a - b stay')).toBe('-1 and 2.5 and a - b stay')
})

test('a table is its cells, without bars and the line under its head', () => {
  expect(toPlainText(lines('| team | at |', '|:-----|---:|', '| Alex | 9 |', '| Bea  |   |'))).toBe('team at Alex 9 Bea')
  expect(toPlainText(lines('team | at', '--- | ---', 'Alex|9'))).toBe('team at --- Alex 9')
})

test('strong text and code are plain, links and pictures their words; stars that emphasise nothing and underscores in names stay', () => {
  expect(toPlainText('**Now**: run `bun test` or ``a ` b``, __twice__')).toBe('Now: run bun test or a b, twice')
  expect(toPlainText('see [the plan](https://plan.example/a_b) and *this* snake_case')).toBe('see the plan and this snake_case')
  expect(toPlainText('the *follow set*, (*not* "*first*")')).toBe('the follow set, (not "first")')
  const stars = '2*3*4, a * b * c, src/*.ts and *.js, *ptr = *other, char *a, *b and *open'
  expect(toPlainText(stars)).toBe(stars)
  expect(toPlainText('tests in [`recover.test.ts`](a.ts), ![a picture](b.png), [no link] (and) list[0](1)')).toBe(
    'tests in recover.test.ts, a picture, [no link] (and) list0',
  )
})

test('nothing comes of nothing', () => {
  for (const text of ['', ' \n\t ', '```', '|---|---|', '# ', '**', '| |']) expect(toPlainText(text)).toBeOneOf(['', '#'])
})

// A pattern that starts again at each character of a run takes seconds for 64 Ki of them; read once they take 5 ms at most.
const RUNS = [
  '[',
  '![',
  '[](',
  '[a',
  '[a](b',
  '\n',
  '\r',
  '\u2028',
  ' ',
  '\t',
  ' \r',
  ' \n',
  '\u00a0',
  '|',
  '| ',
  '|-',
  '|--',
  '`',
  '```\n',
  '~',
  '-',
  '- ',
  '-\t[',
  '*',
  ' **',
  ' *a',
  '*a* ',
  '_',
  '#',
]
const MORE_RUNS = ['# ', '>', '> ', '1', '1.', '+', '[', 'x']

test('a run of any character that it looks for takes time in proportion to its length', () => {
  const took = cpuMs(() => {
    for (const unit of [...RUNS, ...MORE_RUNS]) {
      const run = unit.repeat(64 * 1024)
      for (const text of [run, `x${run}zebra`, `-${run}zebra`, `|${run}zebra`, `\n${run}zebra`]) toPlainText(text)
    }
  })
  expect(took).toBeLessThan(10_000)
})
