import { describe, expect, test } from 'bun:test'
import { conclusionOf, withConclusion } from '../../src/rooms/document/conclusion.ts'
import { cpuMs } from '../support/cpu.ts'

const lines = (...text: string[]) => `${text.join('\n')}\n`

describe('withConclusion', () => {
  test('an empty doc becomes the section', () => {
    for (const doc of ['', '\n', '  \n\n']) expect(withConclusion(doc, 'We ship.')).toBe('## Conclusion\n\nWe ship.\n')
  })

  test('a doc without the section gets it at its end, one blank line away', () => {
    for (const doc of ['# S\n\ntext', '# S\n\ntext\n', '# S\n\ntext\n\n\n'])
      expect(withConclusion(doc, 'We ship.')).toBe('# S\n\ntext\n\n## Conclusion\n\nWe ship.\n')
  })

  test('the section runs to the next heading of level 1 or 2, and deeper ones belong to it', () => {
    const doc = lines('# S', '', '## Conclusion', '', 'old', '', '### Open', '', 'old too', '', '## Notes', '', 'kept')
    expect(withConclusion(doc, 'new')).toBe(lines('# S', '', '## Conclusion', '', 'new', '', '## Notes', '', 'kept'))
    const top = lines('## Conclusion', 'old', '# Next', 'kept')
    expect(withConclusion(top, 'new')).toBe(lines('## Conclusion', '', 'new', '', '# Next', 'kept'))
  })

  test('underlined headings end the section as well', () => {
    const doc = lines('## Conclusion', '', 'old', '', 'Notes', '-----', '', 'kept', '', 'Top', '===', 'kept')
    expect(withConclusion(doc, 'new')).toBe(lines('## Conclusion', '', 'new', '', 'Notes', '-----', '', 'kept', '', 'Top', '===', 'kept'))
  })

  test('an underlined conclusion is the conclusion', () => {
    expect(withConclusion(lines('# S', '', 'Conclusion', '----------', '', 'old'), 'new')).toBe(
      lines('# S', '', '## Conclusion', '', 'new'),
    )
  })

  test.each(['```', '~~~', '````', '```md'])('a heading inside %s is code', (fence) => {
    const close = fence.replace('md', '')
    const doc = lines('# S', '', fence, '## Conclusion', close, '', 'after')
    expect(withConclusion(doc, 'new')).toBe(`${doc}\n## Conclusion\n\nnew\n`)
    const inside = lines('## Conclusion', '', fence, '## Not a heading', close, 'old')
    expect(withConclusion(inside, 'new')).toBe('## Conclusion\n\nnew\n')
  })

  test('a fence closes only with its own mark, as long or longer, and one that never closes runs to the end', () => {
    const doc = lines('````', '```', '## Conclusion', '~~~~', '````', '', '## Conclusion', 'old')
    expect(withConclusion(doc, 'new')).toBe(lines('````', '```', '## Conclusion', '~~~~', '````', '', '## Conclusion', '', 'new'))
    const open = lines('```', '## Conclusion')
    expect(withConclusion(open, 'new')).toEndWith('\n## Conclusion\n\nnew\n')
    expect(conclusionOf(open)).toBeUndefined()
  })

  test('headings of the summary go below its own, and so it stays one section', () => {
    const summary = lines('## Reached', '- the lexer', '', 'Open', '----', '- the printer', '', '### Where', '```', '## code', '```')
    const written = lines('### Reached', '- the lexer', '', '### Open', '- the printer', '', '#### Where', '```', '## code', '```')
    const doc = withConclusion(lines('# S', '', '## Notes', 'kept'), summary)
    expect(conclusionOf(doc)).toBe(written.trim())
    expect(withConclusion(doc, 'new')).toBe(lines('# S', '', '## Notes', 'kept', '', '## Conclusion', '', 'new'))
    expect(conclusionOf(withConclusion('', '# One\n\n## Conclusion\n\n###### Six'))).toBe('### One\n\n#### Conclusion\n\n###### Six')
    expect(conclusionOf(withConclusion('', '### Kept'))).toBe('### Kept')
  })

  test('an open fence before it, or in it, ends where it begins or ends', () => {
    const doc = withConclusion(lines('# S', '', '~~~~sh', 'make all', ''), lines('Run it:', '```', 'make'))
    expect(doc).toBe(lines('# S', '', '~~~~sh', 'make all', '~~~~', '', '## Conclusion', '', 'Run it:', '```', 'make', '```'))
    expect(conclusionOf(doc)).toBe(lines('Run it:', '```', 'make', '```').trim())
    expect(withConclusion(doc, 'two')).toEndWith('~~~~\n\n## Conclusion\n\ntwo\n')
  })

  test('a heading inside a comment or a block of HTML is none, and the text around it stays', () => {
    const layout = lines('# S', '', '<!-- keep:', '## Decisions', '## Conclusion', '-->', '', 'Intro.', '', '### Findings', 'One.')
    const block = lines('# S', '', '<div>', '## Conclusion', 'in html', '</div>', '', 'Intro.')
    for (const doc of [layout, block]) {
      expect(conclusionOf(doc)).toBeUndefined()
      expect(withConclusion(doc, 'new')).toBe(`${doc}\n## Conclusion\n\nnew\n`)
      expect(withConclusion(withConclusion(doc, 'old'), 'new')).toBe(withConclusion(doc, 'new'))
    }
    const inside = lines('## Conclusion', '', '<!--', '## Not a heading', '-->', 'old')
    expect(withConclusion(inside, 'new')).toBe('## Conclusion\n\nnew\n')
  })

  test.each([
    ['<!-- to do', '-->'],
    ['<pre class="x">', '</pre>'],
    ['<SCRIPT>', '</SCRIPT>'],
    ['<?php', '?>'],
    ['<![CDATA[', ']]>'],
  ])('an open %s before it, or in it, is closed', (opening, closing) => {
    const doc = withConclusion(lines('# S', '', opening, '', 'text'), lines('Done.', '', opening, '## more'))
    expect(doc).toBe(lines('# S', '', opening, '', 'text', closing, '', '## Conclusion', '', 'Done.', '', opening, '## more', closing))
    expect(withConclusion(doc, 'two')).toEndWith(lines('text', closing, '', '## Conclusion', '', 'two'))
  })

  test('code and comments that a list item begins with end with it, and hold no heading', () => {
    for (const item of [lines('- ```sh', '  ## Conclusion', '  ```'), lines('1. <!--', '   ## Conclusion'), lines('- ~~~', '  open')]) {
      const doc = `# S\n\n${item}`
      expect(withConclusion(doc, 'new')).toBe(`${doc}\n## Conclusion\n\nnew\n`)
      expect(withConclusion(`${doc}\n## Conclusion\n\nold\n`, 'new')).toBe(`${doc}\n## Conclusion\n\nnew\n`)
    }
  })

  test('a block that a blank line ends needs no more than that', () => {
    expect(withConclusion(lines('<details>', 'text'), 'new')).toBe(lines('<details>', 'text', '', '## Conclusion', '', 'new'))
  })

  test.each([
    '### Conclusion',
    '# Conclusion',
    '##Conclusion',
    '    ## Conclusion',
    '## Conclusions',
    '- ## Conclusion?',
    '> ## Conclusion',
  ])('%j is another thing and stays', (heading) => {
    const doc = lines('# S', '', heading, '', 'kept')
    expect(withConclusion(doc, 'new')).toBe(`${doc}\n## Conclusion\n\nnew\n`)
  })

  test.each(['## conclusion', '## CONCLUSION', '##  Conclusion  ', '## Conclusion ##', '  ## Conclusion', '##\tConclusion'])(
    '%j is the conclusion',
    (heading) => {
      expect(withConclusion(lines('# S', '', heading, '', 'old'), 'new')).toBe(lines('# S', '', '## Conclusion', '', 'new'))
    },
  )

  test.each([
    'We ship.',
    '## Conclusion\n\nWe ship.',
    '\n\n## Conclusion\nWe ship.\n\n',
    '## conclusion ##\r\n\r\nWe ship.',
    'Conclusion\n----------\n\nWe ship.',
    '# Conclusion\n\nWe ship.',
    '### Conclusion\n\nWe ship.',
  ])('a summary given as %j has the heading once', (summary) => {
    expect(withConclusion('# S\n', summary)).toBe('# S\n\n## Conclusion\n\nWe ship.\n')
  })

  test('concluding twice with one summary changes nothing the second time', () => {
    for (const doc of ['', '# S\n\ntext', lines('## Conclusion', 'old', '', '## Notes', 'kept'), 'a\n\n\n\n## Conclusion\n\n\n\n']) {
      const once = withConclusion(doc, 'new\n\n- item')
      expect(withConclusion(once, 'new\n\n- item')).toBe(once)
    }
  })

  test('lines that end in CR LF are lines', () => {
    expect(withConclusion('# S\r\n\r\n## Conclusion\r\n\r\nold\r\n\r\n## Notes\r\nkept\r\n', 'new')).toContain(
      '## Conclusion\n\nnew\n\n## Notes\r\nkept',
    )
  })

  test('of several such sections the first is replaced', () => {
    const doc = lines('## Conclusion', 'one', '## Notes', '## Conclusion', 'two')
    expect(withConclusion(doc, 'new')).toBe(lines('## Conclusion', '', 'new', '', '## Notes', '## Conclusion', 'two'))
  })

  test('a hostile doc of 512 KiB takes linear time', () => {
    for (const piece of ['#', '# ', '`', '```\n', '-', '=\na\n', '#\t', ' '.repeat(3), '## Conclusion\n', '####### '])
      expect(() => withConclusion(piece.repeat(Math.floor((512 * 1024) / piece.length)), 'new')).not.toThrow()
    for (const doc of [`## ${' #'.repeat(256 * 1024)}`, `## ${' \t'.repeat(256 * 1024)}x`])
      expect(cpuMs(() => withConclusion(doc, 'new'))).toBeLessThan(2_000) // in quadratic time it takes minutes
  })
})

describe('conclusionOf', () => {
  test('it is the section without its heading, or nothing', () => {
    expect(conclusionOf(lines('# S', '## Conclusion', '', 'We ship.', '', '### Open', 'docs', '## Notes'))).toBe(
      'We ship.\n\n### Open\ndocs',
    )
    expect(conclusionOf('# S\n')).toBeUndefined()
    expect(conclusionOf('## Conclusion\n\n')).toBeUndefined()
  })

  test('an underlined heading is no part of the text', () => {
    expect(conclusionOf(lines('Conclusion', '----------', '', 'We ship.'))).toBe('We ship.')
  })
})
