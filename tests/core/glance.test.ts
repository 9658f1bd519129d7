import { expect, test } from 'bun:test'
import { glance } from '../../src/markdown/plain-text.ts'

const lines = (...text: string[]) => text.join('\n')

test('headings, quotes and fences lose their marks, and lines become one', () => {
  expect(glance('# The plan')).toBe('The plan')
  expect(glance('\r\n \r\n   ### The plan\r\n\r\nWe begin.\r\n')).toBe('The plan We begin.')
  expect(glance(lines('> said so', '> twice'))).toBe('said so twice')
  expect(glance(lines('Run', '```ts', 'const a = 1', '```', 'and', '~~~', 'b', '~~~'))).toBe('Run const a = 1 and b')
  expect(glance('####### seven, #tag and C# stay')).toBe('####### seven, #tag and C# stay')
})

test('list items lose their marks and boxes, however deep they stand', () => {
  expect(glance(lines('- one', '* two', '+ three', '1. four', '23) five'))).toBe('one two three four five')
  expect(glance(lines('- [ ] open', '\t- [x] done', '- [X]   done too'))).toBe('open done done too')
  expect(glance(lines('', '', '\u00a0 - after blank lines'))).toBe('after blank lines')
  expect(glance('-1 and 2.5 and a - b stay')).toBe('-1 and 2.5 and a - b stay')
})

test('a table is its cells, without bars and the line under its head', () => {
  expect(glance(lines('| team | at |', '|:-----|---:|', '| Alex | 9 |', '| Bea  |   |'))).toBe('team at Alex 9 Bea')
  expect(glance(lines('team | at', '--- | ---', 'Alex|9'))).toBe('team at --- Alex 9')
})

test('strong text and code are plain, links and pictures their words; stars that emphasise nothing and underscores in names stay', () => {
  expect(glance('**Now**: run `bun test` or ``a ` b``, __twice__')).toBe('Now: run bun test or a b, twice')
  expect(glance('see [the plan](https://plan.example/a_b) and *this* snake_case')).toBe('see the plan and this snake_case')
  expect(glance('the *follow set*, (*not* "*first*")')).toBe('the follow set, (not "first")')
  const stars = '2*3*4, a * b * c, src/*.ts and *.js, *ptr = *other, char *a, *b and *open'
  expect(glance(stars)).toBe(stars)
  expect(glance('tests in [`recover.test.ts`](a.ts), ![a picture](b.png), [no link] (and) list[0](1)')).toBe(
    'tests in recover.test.ts, a picture, [no link] (and) list0',
  )
})

test('nothing comes of nothing', () => {
  for (const text of ['', ' \n\t ', '```', '|---|---|', '# ', '**', '| |']) expect(glance(text)).toBeOneOf(['', '#'])
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
  const begin = performance.now()
  for (const unit of [...RUNS, ...MORE_RUNS]) {
    const run = unit.repeat(64 * 1024)
    for (const text of [run, `x${run}zebra`, `-${run}zebra`, `|${run}zebra`, `\n${run}zebra`]) glance(text)
  }
  expect(performance.now() - begin).toBeLessThan(10_000)
})
