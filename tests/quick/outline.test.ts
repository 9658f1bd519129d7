import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { Lexer } from 'marked'
import { headingsOf } from '../../src/markdown/headings.ts'
import { fittingOutline, outlineOf, sectionNamed, sectionsOf, textOf, withSection } from '../../src/rooms/document/outline.ts'
import { conclusionOf } from '../../src/rooms/document/conclusion.ts'
import { cpuMs, slowness } from '../support/cpu.ts'

const names = (doc: string) => sectionsOf(doc).map(({ section }) => section)

describe('headings', () => {
  // Lines that begin or end a block for a parser. Lists, quotes and indented code, which can contain a heading that is none of the doc's, have
  // their own test in conclusion.test.ts.
  const line = fc.constantFrom(
    '# One',
    '## Two',
    '### Three ###',
    '###### Six',
    '####### seven',
    '#no',
    '#',
    '## ',
    '## a ## b',
    '## C#',
    '## C #',
    '  ## in',
    'text',
    '',
    '',
    '===',
    '---',
    '```',
    '~~~',
    '````',
    '```ts',

    '~~~ ```',
    '## `code`',
  )

  test('are those that a markdown parser finds', () => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 12 }), (lines) => {
        const doc = lines.join('\n')
        const found = headingsOf(doc).map(({ level, text }) => [level, text])
        const parsed = new Lexer().lex(doc).flatMap((token) => (token.type === 'heading' ? [[token.depth, token.text]] : []))
        expect(found, JSON.stringify(doc)).toEqual(parsed)
      }),
      { numRuns: 3_000, seed: 7 },
    )
  })

  test.each([
    ['spaces', `# a${' '.repeat(500_000)}x`],
    ['marks', `# ${'#'.repeat(500_000)}x`],
    ['fences', `${'`'.repeat(250_000)}${'a'.repeat(250_000)}\``],
    ['one paragraph', 'word '.repeat(100_000)],
    ['underlines', `a\n${'='.repeat(500_000)}x`],
  ])('are found in linear time in a doc of %s', (_, doc) => {
    expect(cpuMs(() => headingsOf(doc))).toBeLessThan(1_000) // in quadratic time it takes minutes
  })
})

describe('sections', () => {
  test('each has a name of its own', () => {
    expect(names('# A\n## A\n## A (2)\n## a\n#\n#\n')).toEqual(['A', 'A (2)', 'A (2) (2)', 'a (3)', '(untitled)', '(untitled) (2)'])
    const many = names('## Same\n'.repeat(50_000))
    expect([many.length, new Set(many).size]).toEqual([5_000, 5_000])
  })

  test('run to the next heading of their level or above', () => {
    const doc = 'intro\n# A\na\n### A1\na1\n## A2\na2\n# B\nb'
    expect(Object.fromEntries(sectionsOf(doc).map((one) => [one.section, textOf(doc, one)]))).toEqual({
      '(top)': 'intro',
      A: '# A\na\n### A1\na1\n## A2\na2',
      A1: '### A1\na1',
      A2: '## A2\na2',
      B: '# B\nb',
    })
  })

  test('one is replaced and every other keeps its text, whatever the doc', () => {
    const line = fc.constantFrom('# A', '## B', '### C', 'text', '', '```', '---', '- item', '<!--', '-->', '<div>', '- ```')
    const text = fc.constantFrom('new', '', 'new\n\nlines\n', '### Deeper\nnew', '```\n## no\n```', '<div>', '<!--', '-->')
    fc.assert(
      fc.property(fc.array(line, { maxLength: 15 }), fc.nat(14), text, (lines, at, content) => {
        const doc = lines.join('\n')
        const sections = sectionsOf(doc)
        const chosen = sections[at % Math.max(sections.length, 1)]
        const written = chosen && withSection(doc, chosen, content)
        if (!chosen || written === undefined) return
        const before = doc.split('\n').slice(0, chosen.from).join('\n')
        const after = doc.split('\n').slice(chosen.to).join('\n')
        expect(written.startsWith(before)).toBe(true)
        expect(written.trimEnd().endsWith(after.trimEnd())).toBe(true)
        const texts = (text: string) => headingsOf(text).map(({ text }) => text)
        expect(texts(written).slice(0, texts(before).length)).toEqual(texts(before))
        expect(texts(written).slice(texts(written).length - texts(after).length)).toEqual(texts(after))
      }),
      { numRuns: 1_000, seed: 7 },
    )
  })

  test('a fence that is not closed would hide what follows', () => {
    const doc = '# A\n\na\n\n# B\n\nb\n'
    expect(withSection(doc, sectionNamed(doc, 'A')!, '```\nopen')).toBeUndefined()
    expect(withSection(doc, sectionNamed(doc, 'B')!, '```\nopen')).toBe('# A\n\na\n\n# B\n\n```\nopen\n')
  })

  test('so would a comment or a block of HTML', () => {
    const doc = '# A\n\na\n\n# B\n\nb\n'
    for (const open of ['<!-- open', '<pre>', 'text\n<script>']) expect(withSection(doc, sectionNamed(doc, 'A')!, open)).toBeUndefined()
    expect(withSection(doc, sectionNamed(doc, 'A')!, '<div>\nopen')).toBe('# A\n\n<div>\nopen\n\n# B\n\nb\n')
  })
})

describe('an outline', () => {
  test('tells what was added, changed and removed, each by its own text alone', () => {
    const before = '# A\n\na\n\n## Kept\n\nk\n\n## Gone\n\ng\n'
    const { outline, removed } = outlineOf('# A\n\na\n\n## Kept\n\nk\n\n### New\n\nn\n', before)
    expect(outline.map(({ section, change }) => [section, change])).toEqual([
      ['A', undefined],
      ['Kept', undefined],
      ['New', 'added'],
    ])
    expect(removed).toEqual(['Gone'])
    expect(outlineOf(before).outline.every((row) => !('change' in row))).toBe(true)
  })

  test('that is too long keeps what changed and what stands highest, in order', () => {
    const outline = [1, 2, 3, 3, 2].map((level, n) => ({ section: `${n}`, level, chars: 10, ...(n === 3 && { change: 'added' as const }) }))
    expect(fittingOutline(outline, 10_000)).toEqual(outline)
    expect(fittingOutline(outline, 110).map(({ section }) => section)).toEqual(['0', '3'])
    expect(fittingOutline(outline, 10)).toEqual([])
  })
})

test('of a document of headings alone 5,000 have a name, and what stands behind the last of them stays when that is replaced', () => {
  const doc = Array.from({ length: 6_000 }, (_, i) => `# H${i}\n`).join('')
  const sections = sectionsOf(doc)
  expect([sections.length, sections.at(-1)]).toEqual([
    5_000,
    { section: 'H4999', level: 1, from: 4_999, next: 5_000, body: 5_000, to: 5_000 },
  ])
  expect(withSection(doc, sections.at(-1)!, '# New\n\nText')).toEndWith(
    `# New\n\nText\n\n${doc.slice(doc.indexOf('# H5000'))}`.trimEnd().concat('\n'),
  )
  expect(conclusionOf(`${doc}## Conclusion\n\nWe ship.\n`)).toBe('We ship.')
})

test('a long name is compared with each section’s in the time that one takes', () => {
  const doc = '#\n'.repeat(100_000)
  expect(cpuMs(() => sectionNamed(doc, 'ﷺ'.repeat(300)))).toBeLessThan(200 * slowness())
})
