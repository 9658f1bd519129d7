import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { withAppended } from '../../src/rooms/document/append.ts'
import { conclusionOf, withConclusion } from '../../src/rooms/document/conclusion.ts'
import { DRAWN, FULL } from '../support/full.ts'

const lines = (...text: string[]) => `${text.join('\n')}\n`

describe('a text that is appended', () => {
  test('stands on a new line at the end', () => {
    expect(withAppended('', '- a')).toBe('- a')
    expect(withAppended('# S', '- a')).toBe('# S\n- a')
    expect(withAppended('# S\n', '- a\n')).toBe('# S\n- a\n')
  })

  test('stands before the conclusion that the document ends with, and the next conclusion keeps it', () => {
    const doc = withConclusion(lines('# S', '', '## Notes', '', '- one'), lines('Done.', '', '### Open', 'docs'))
    const longer = withAppended(withAppended(doc, '- two'), '- three\n')
    expect(longer).toBe(
      lines('# S', '', '## Notes', '', '- one', '- two', '- three', '', '## Conclusion', '', 'Done.', '', '### Open', 'docs'),
    )
    expect(withConclusion(longer, 'Again.')).toBe(
      lines('# S', '', '## Notes', '', '- one', '- two', '- three', '', '## Conclusion', '', 'Again.'),
    )
    expect(withAppended('## Conclusion\n\nDone.\n', '- a')).toBe('- a\n\n## Conclusion\n\nDone.\n')
    expect(withAppended(lines('# S', '', '## Conclusion'), '\n## Risks\n\n- none')).toBe(
      lines('# S', '', '## Risks', '', '- none', '', '## Conclusion'),
    )
  })

  test('stays out of a block of HTML before the conclusion', () => {
    const doc = lines('<details>', 'text', '</details>', '', '## Conclusion', '', 'Done.')
    expect(withAppended(doc, '## Risks')).toBe(lines('<details>', 'text', '</details>', '', '## Risks', '', '## Conclusion', '', 'Done.'))
  })

  test('stands at the end where somebody wrote a section after the conclusion', () => {
    const doc = lines('## Conclusion', '', 'Done.', '', '## After', '', 'text')
    expect(withAppended(doc, '- a')).toBe(`${doc}- a`)
    const inside = lines('# S', '', '```', '## Conclusion', '```')
    expect(withAppended(inside, '- a')).toBe(`${inside}- a`)
  })

  test('brings a conclusion of its own behind the one that is there', () => {
    const doc = lines('# S', '', '## Conclusion', '', 'Done.')
    const longer = withAppended(doc, lines('- a', '## Conclusion', '', 'By us.'))
    expect(longer).toBe(lines('# S', '- a', '', '## Conclusion', '', 'Done.', '', '## Conclusion', '', 'By us.'))
    expect(withConclusion(longer, 'new')).toContain('By us.')
  })

  test.each([
    ['```sh', '```'],
    ['<!-- to do', '-->'],
    ['<pre>', '</pre>'],
  ])('does not hide the conclusion behind it with an open %s', (opening, closing) => {
    const doc = lines('# S', '', '## Conclusion', '', 'Done.')
    expect(withAppended(doc, `${opening}\ntext\n`)).toBe(lines('# S', opening, 'text', closing, '', '## Conclusion', '', 'Done.'))
  })

  test('makes no conclusion behind a table that it had none in by itself', () => {
    const doc = lines('| a |', '|---|', '', '## Conclusion', '', 'Done.')
    const text = lines('A', '===', '<b>', '## Conclusion')
    expect(withAppended(doc, text)).toBe(lines('| a |', '|---|', '', text, '## Conclusion', '', 'Done.'))
  })

  test('is in the document after the next conclusion, whatever the two are, and the conclusion stays what it was', () => {
    const line = fc.constantFrom(
      '# A',
      '## B',
      '### C',
      'text',
      '',
      '- item',
      '> quote',
      '    code',
      '## Conclusion',
      'Conclusion',
      '---',
      '===',
      '| a |',
      '|---|',
      '```',
      '~~~',
      '<!--',
      '-->',
      '<div>',
      '<pre>',
      '</pre>',
      '<b>',
    )
    const some = fc.array(line, { maxLength: 8 }).map((all) => all.join('\n'))
    fc.assert(
      fc.property(some, some, fc.boolean(), (doc, text, concluded) => {
        const before = concluded ? withConclusion(doc, 'Done.') : doc
        const longer = withAppended(before, `MINE ${text}`)
        expect(withConclusion(longer, 'new')).toContain('MINE')
        if (concluded) expect(conclusionOf(longer)).toBe(conclusionOf(before))
      }),
      { ...DRAWN, numRuns: FULL ? 4_000 : 1_000 },
    )
  })
})
