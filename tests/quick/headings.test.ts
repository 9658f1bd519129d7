// What the page shows as a heading is one in the outline, and the reverse.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { headingsOf } from '../../src/markdown/headings.ts'
import { renderMarkdown } from '../../src/markdown/render.ts'
import { cpuMs } from '../support/cpu.ts'
import { DRAWN, FULL } from '../support/full.ts'

const shown = (doc: string): [number, string][] => headingsIn(renderMarkdown(doc))
const headingsIn = (html: string): [number, string][] =>
  [...html.matchAll(/<h([1-6])>([^]*?)<\/h\1>/g)].map(([, level, inner]) => [Number(level), wordsOf(inner!)])
/** Those that stand in no list: the headings within items are the page's alone. */
const shownOutsideLists = (doc: string): [number, string][] => {
  let depth = 0
  const outside = renderMarkdown(doc)
    .split(/(<\/?[uo]l\b[^>]*>)/)
    .filter((part) => {
      if (/^<[uo]l/.test(part)) depth++
      if (/^<\/[uo]l/.test(part)) depth--
      return depth === 0
    })
  return headingsIn(outside.join(''))
}
const wordsOf = (html: string) =>
  html
    .replace(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
const listed = (doc: string): [number, string][] => headingsOf(doc).map(({ level, text }) => [level, text])

describe('a heading of the page is one of the outline', () => {
  // Quotes and items are left out: the headings within them are the page's alone.
  const line = fc.constantFrom(
    '# One',
    '## Two',
    '  ### Three ###',
    '    # code',
    '#no',
    'text',
    'more text',
    '  in',
    '',
    '',
    '',
    ' ',
    '===',
    '---',
    '--',
    '***',
    '```',
    '~~~',
    '```ts',
    '````',
    '| a | b |',
    '|---|---|',
    '<!--',
    '-->',
    '<!-- whole -->',
    '<!-->',
    'text -->',
    'text <!-- in it',
    '   <!-- in',
    '    <!-- code',
    '<!- no',
    '<div>',
    '</div>',
    '<DIV class="x">',
    '<div',
    '<divx>',
    '<div>## in</div>',
    '<h2>',
    '<details open>',
    '<hr/>',
    '<p>text',
    '<pre>',
    '</pre>',
    '<script src=x>',
    '</script>',
    '</style> text',
    '<textarea',
    '<prex',
    '<style>x</style>',
    '<b>',
    '</b>',
    '<b class="x" id = y hidden>',
    '<b>text',
    '<b/>',
    '<a href="x>y">',
    '<a ="x">',
    '<a b="x>',
    '<x-y>',
    '</b >',
    '<b >  ',
    '<?php',
    '?>',
    '<?>',
    '<!DOCTYPE html',
    '<!x',
    '<![CDATA[',
    ']]>',
    '<![cdata[',
    '< div>',
    '<1>',
  )

  test('whatever fences, comments, tags and underlines stand around it', () => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 12 }), fc.constantFrom('\n', '\r\n'), (lines, end) => {
        const doc = lines.join(end)
        expect(listed(doc), JSON.stringify(doc)).toEqual(shown(doc))
      }),
      { ...DRAWN, numRuns: FULL ? 4_000 : 300 },
    )
  })

  // A blank line follows each: without it marked takes the next line for one of the item. A number other than 1 right after a paragraph is
  // left out: marked and CommonMark differ there.
  test('whatever a list item begins with', () => {
    const part = fc.constantFrom(
      '# One',
      'text',
      '',
      '---',
      '- item',
      '- `code`',
      '```',
      '<!-- x -->',
      '- ```sh\n  ## in\n  ```',
      '- ```\n  ## in\n\n  ```',
      '- ~~~\n  ## never closed',
      '\n10. ~~~\n    ## in\n    ~~~',
      '\n2. ```',
      '- <!--\n  ## in\n\n  -->',
      '* <pre>\n  ## in',
      '1. <div>\n   ## in\n',
      '- <b>\n  ## in',
    )
    fc.assert(
      fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
        const doc = parts.map((one) => (one.includes('\n') ? `${one}\n` : one)).join('\n')
        expect(listed(doc), JSON.stringify(doc)).toEqual(shown(doc))
      }),
      { ...DRAWN, numRuns: FULL ? 4_000 : 300 },
    )
    const long = `- \`\`\`sh\n  # in\n  \`\`\`\n\n${'A paragraph of some more words.\n\n'.repeat(500)}## Last\n`
    expect([listed(long), shown(long)]).toEqual([[[2, 'Last']], [[2, 'Last']]])
  })

  // A number other than 1 right after a paragraph is left out here too.
  test('whatever a list item goes on with', () => {
    const part = fc.constantFrom(
      '# One',
      '## Two',
      'text',
      'lazy',
      '',
      '',
      '===',
      '---',
      '***',
      '- item',
      '* other',
      '-',
      '1. first',
      '\n2. second',
      '  - within',
      '\n10. tenth',
      '  text in it',
      '  <details>',
      '  <span>',
      '   <!-- open',
      '  <!--',
      '  -->',
      '  ```',
      '   ~~~',
      '  ## in it',
      '   ### in it',
      '    ## deep',
      '<div>',
      '```',
      '-     code',
    )
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), (lines) => {
        const doc = lines.join('\n')
        expect(listed(doc), JSON.stringify(doc)).toEqual(shownOutsideLists(doc))
      }),
      { ...DRAWN, numRuns: FULL ? 8_000 : 600 },
    )
  })

  test.each([
    ['- Lexer\n  <details>\n## Conclusion\nold', 'Conclusion'],
    ['- a\n\n  <span>\n## H', 'H'],
    ['- a\n  <!-- open\n## H', 'H'],
    ['1. a\n   ```\n## H', 'H'],
    ['- a\n  - b\n  <div>\n## H', 'H'],
  ])('an item ends where a heading begins, with what is open in it: %j', (doc, heading) => {
    expect(listed(doc)).toEqual([[2, heading]])
    expect(shown(doc)).toEqual([[2, heading]])
  })

  test.each([
    ['<!--', '-->'],
    ['<pre>', '</pre>'],
    ['<div>', ''],
  ])('however long the block from %s is, and where it stands', (opening, closing) => {
    const inside = opening === '<div>' ? '## no\ntext\n' : '## no\n\ntext\n\n'
    for (const before of [0, 200, 1_000])
      for (const times of [10, 600, 5_000]) {
        const doc = `# First\n${'\nwords'.repeat(before)}\n\n${opening}\n${inside.repeat(times)}${closing}\n\n## Second\n`
        expect(listed(doc)).toEqual([
          [1, 'First'],
          [2, 'Second'],
        ])
        expect(shown(doc)).toEqual(listed(doc))
      }
  })

  test.each(['<!--', '<?', '<!X', '<![CDATA[', '<pre', '<div', '<script>'])('%s that is never closed goes to the end', (opening) => {
    const doc = `# First\n\n${opening}\n## no\n`
    expect(listed(doc)).toEqual([[1, 'First']])
    expect(shown(doc)).toEqual([[1, 'First']])
  })

  test.each([
    ['attributes', `<a${' a'.repeat(250_000)}`],
    ['attributes with values', `<a${' a= "b"'.repeat(70_000)}<`],
    ['spaces', `<a${' '.repeat(500_000)}x`],
    ['a name', `<${'a'.repeat(500_000)}`],
    ['a closing tag', `</a${' '.repeat(500_000)}x`],
    ['quoted text', `<a b="${'x'.repeat(500_000)}`],
    ['short tags', '<a\n'.repeat(130_000)],
    ['comments', '<!--\n'.repeat(100_000)],
    ['tables', `${'|'.repeat(250_000)}\n${'|-'.repeat(125_000)}`],
    ['backslashes', `${'\\'.repeat(250_000)}|\n${'|-'.repeat(125_000)}`],
    ['dashes and colons', 'a\n:-\n'.repeat(80_000)],
  ])('in linear time, in a doc of %s', (_, doc) => {
    expect(cpuMs(() => headingsOf(doc))).toBeLessThan(1_000) // in quadratic time it takes minutes
    expect(cpuMs(() => renderMarkdown(doc.slice(0, 32 * 1024)))).toBeLessThan(1_000)
  })
})
