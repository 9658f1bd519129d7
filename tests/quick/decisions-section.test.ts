import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { Lexer, type Token } from 'marked'
import { headingsOf } from '../../src/markdown/headings.ts'
import { renderMarkdown } from '../../src/markdown/render.ts'
import { conclusionOf } from '../../src/rooms/document/conclusion.ts'
import {
  decisionEntry,
  withdrawnEntry,
  withDecision,
  withEntryReplaced,
  withoutEntriesOf,
  type WrittenDecision,
} from '../../src/rooms/document/decisions.ts'
import { sectionsOf } from '../../src/rooms/document/outline.ts'
import { cpuMs } from '../support/cpu.ts'
import { DRAWN, FULL } from '../support/full.ts'

const ID = '01a20fc1-a1bc-797e-813d-8e1402ff740c'
const DECISION: WrittenDecision = {
  proposalId: ID,
  title: 'Ship it',
  description: 'Today.',
  rationale: null,
  proposedBy: { name: "Alex's Team" },
  approvedBy: { name: 'Nora' },
  at: '2026-03-01T09:00:00.000Z',
}
const ENTRY = `- **Ship it**: Today. (proposed by Alex's Team, approved by Nora, 2026-03-01, [record](/approvals/${ID}))`
const lines = (...text: string[]) => `${text.join('\n')}\n`

describe('an approved decision in the doc [E15]', () => {
  test('it names who proposed and who approved, and why, in one line', () => {
    expect(decisionEntry(DECISION)).toBe(ENTRY)
    expect(decisionEntry({ ...DECISION, rationale: 'It\nis *done*.' })).toContain(': Today. Why: It is done. (proposed by')
  })

  test('code and emphasis are read as words; what says more than that stays, and nothing becomes Markdown', () => {
    const said = (description: string) =>
      decisionEntry({ ...DECISION, description })
        .split('**: ')[1]!
        .split(' (proposed by')[0]
    expect(said('Use the `fast` path, **not `slow`**: ***never***.')).toBe('Use the fast path, not slow: never.')
    expect(said('`**kwargs`, ``a__b``, 2**10 and 2**20, a * b * c, src/*.ts and lib/*.js, \\*')).toBe(
      '\\*\\*kwargs, a\\_\\_b, 2\\*\\*10 and 2\\*\\*20, a \\* b \\* c, src/\\*.ts and lib/\\*.js, \\\\\\*',
    )
    expect(said('Use:\n```sh\nbun start\n```\nor ```x```, ~~~ and\n```\na\nb\n```\n.')).toBe('Use: bun start or x, \\~\\~\\~ and a b .')
    expect(said('Before each run ```bun test --all\nbun run check``` and\n  ```sh\ntag\n  ```')).toBe(
      'Before each run bun test --all bun run check and tag',
    )
    expect(said('Keep \\`x\\` and _y_')).toBe('Keep \\\\\\`x\\\\\\` and \\_y\\_')
    expect(said('采用**Postgres**作为存储。**结论**：好，2*3*4')).toBe('采用Postgres作为存储。结论：好，2\\*3\\*4')
    expect(said('**[a](b)** `<h2>` ` ``` ` **\n## Conclusion\n**')).toBe(
      '\\[a\\](b) \\<h2\\> ` ``` ` \\*\\* \\#\\# Conclusion \\*\\*'.replaceAll('`', '\\`'),
    )
    expect(
      cpuMs(() => ['`', '**a', '`a``', '*a *', '**', '```a``` '].map((piece) => said(piece.repeat(10_000 / piece.length)))),
    ).toBeLessThan(2_000)
  })

  test('an address stays what it is, and leads where it did', () => {
    const description =
      'See https://example.com/docs/retry_queue?a=1&b=2#part_two for it, [docs](https://example.com/a_b), (https://a.example/X_(y)). Ask foo_bar@example.com!'
    const entry = decisionEntry({ ...DECISION, description })
    expect(entry).toContain('[docs\\](<https://example.com/a_b>), (<https://a.example/X_(y)>). Ask <foo_bar@example.com>!')
    const links = [...renderMarkdown(entry).matchAll(/href="([^"]+)"/g)].map(([, href]) => href!.replaceAll('&amp;', '&'))
    expect(links.slice(0, -1)).toEqual([
      'https://example.com/docs/retry_queue?a=1&b=2#part_two',
      'https://example.com/a_b',
      'https://a.example/X_(y)',
      'mailto:foo_bar@example.com',
    ])
    expect(cpuMs(() => ['http://', 'a@b', '('].map((piece) => plainTime(piece)))).toBeLessThan(2_000)
  })
  const plainTime = (piece: string) => decisionEntry({ ...DECISION, description: `http://x${piece.repeat(10_000)}${')'.repeat(10_000)}` })

  test('the section is made before the conclusion, else at the end', () => {
    expect(withDecision('', ENTRY)).toBe(lines('## Decisions', '', ENTRY))
    expect(withDecision('# S\n\ntext', ENTRY)).toBe(lines('# S', '', 'text', '', '## Decisions', '', ENTRY))
    expect(withDecision(lines('# S', '', '## Conclusion', '', 'Done.'), ENTRY)).toBe(
      lines('# S', '', '## Decisions', '', ENTRY, '', '## Conclusion', '', 'Done.'),
    )
  })

  test('it goes to the end of the section, before its subsections, and entries follow one another', () => {
    const doc = lines('# S', '', '## Decisions', '', 'By hand.', '', '### Older', '', 'Gone.', '', '## Notes')
    const once = withDecision(doc, ENTRY)
    expect(once).toBe(lines('# S', '', '## Decisions', '', 'By hand.', '', ENTRY, '', '### Older', '', 'Gone.', '', '## Notes'))
    expect(withDecision(once, ENTRY)).toContain(lines('By hand.', '', ENTRY, ENTRY, '', '### Older'))
  })

  test('a fence that is left open is closed before it', () => {
    expect(withDecision(lines('## Decisions', '', '```', 'code'), ENTRY)).toBe(lines('## Decisions', '', '```', 'code', '```', '', ENTRY))
  })

  test('so is a comment, and a section in one is none', () => {
    expect(withDecision(lines('## Decisions', '', '<!-- to do'), ENTRY)).toBe(lines('## Decisions', '', '<!-- to do', '-->', '', ENTRY))
    const doc = lines('# S', '', '<!--', '## Decisions', '-->', '', 'text')
    expect(withDecision(doc, ENTRY)).toBe(`${doc}\n## Decisions\n\n${ENTRY}\n`)
  })

  test('whoever has the records leaves their entries out, and nothing else', () => {
    const text = lines('By hand.', ENTRY, ENTRY.replace(ID, crypto.randomUUID()), `See ${ID}.`)
    expect(withoutEntriesOf(text, new Set([ID])).split('\n')).toEqual(text.split('\n').filter((line) => line !== ENTRY))
  })

  test('withdrawn, it is struck through where it stands; what somebody rewrote is left alone', () => {
    const doc = lines('## Decisions', '', ENTRY, '- Another.', '', '## Notes')
    const entry = withdrawnEntry(DECISION, 'Nora', 'It was\n## wrong')
    const struck = `- ~~**Ship it**: Today.~~ Withdrawn: It was \\#\\# wrong (by Nora, [record](/approvals/${ID}))`
    expect(withEntryReplaced(doc, ID, entry)).toBe(doc.replace(ENTRY, struck))
    expect(withEntryReplaced(doc.replace('Ship it', 'Ship it?'), ID, entry)).toContain(struck)
    expect(withEntryReplaced(doc.replace(ENTRY, `- See [record](/approvals/${ID}).`), ID, entry)).toBeUndefined()
    expect(withoutEntriesOf(withEntryReplaced(doc, ID, entry)!, new Set([ID]))).toBe(
      lines('## Decisions', '', '- Another.', '', '## Notes'),
    )
  })

  const hostile = fc
    .array(
      fc.oneof(
        fc.string(),
        fc.constantFrom(
          '\n',
          '\r',
          '\r\n',
          '\u2028',
          '```',
          '~~~',
          '## Conclusion',
          '# ',
          '\n## Conclusion\n',
          '===',
          '---',
          '\n---\n',
          '<!--',
          '-->',
          '<script>',
          '</details>',
          '<h2>',
          '[a](b)',
          '![',
          '](/approvals/x))',
          '\\',
          '`',
          '**',
          '|',
          '> ',
          '\t',
          '    ',
          '- ',
          '1. ',
          '&#10;',
          '&lt;',
          '\u202e',
          '{#id}',
          '$$',
          'Setext\n===',
          '\n\n    code',
          '\u0085',
        ),
      ),
      { maxLength: 8 },
    )
    .map((parts) => parts.join(''))
  const decision = fc.record({
    proposalId: fc.uuid(),
    title: hostile,
    description: hostile,
    rationale: fc.option(hostile),
    proposedBy: fc.record({ name: hostile }),
    approvedBy: fc.record({ name: hostile }),
    at: fc.constant(DECISION.at),
  })
  const line = fc.constantFrom(
    '# A',
    '## B',
    '### C',
    '## Decisions',
    '## Conclusion',
    '## decisions ##',
    'Decisions',
    '---',
    '===',
    '```',
    '~~~sh',
    'text',
    '',
    '- item\n  more',
    ' more',
    '> quote',
    '    code',
    ENTRY,
    '## Conclusion\r',
    'a  ',
    '1. one',
    '<!--',
    '-->',
    '<pre>',
    '- ```sh',
    '  ```',
    '- <!--',
    '</pre>',
    '<div>',
  )
  const CLOSED = ['', '\n```', '\n~~~', '\n-->', '\n</pre>']
  const own = (doc: string) => {
    const all = doc.split('\n')
    return sectionsOf(doc).map(({ from, body }) =>
      all
        .slice(from, body)
        .map((one) => one.trimEnd())
        .join('\n')
        .trim(),
    )
  }
  const isDecisions = ({ level, text }: { level: number; text: string }) => level === 2 && text.toLowerCase() === 'decisions'

  test('whatever stands in it, it is one line of its section: all headings and all other sections stay', () => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 14 }), decision, (doc, said) => {
        const before = doc.join('\n')
        const entry = decisionEntry(said)
        const after = withDecision(before, entry)
        expect(entry).not.toMatch(/[\r\n]/)
        const [was, is] = [headingsOf(before), headingsOf(after)]
        const names = (headings: typeof was) => headings.map(({ level, text }) => `${level} ${text}`)
        const made = was.some(isDecisions) ? [] : ['2 Decisions']
        const added = is.findIndex(isDecisions)
        expect(names(is).filter((_, i) => made.length === 0 || i !== added)).toEqual(names(was))
        const [section] = sectionsOf(after).filter(({ from }) => from === is[added]!.line)
        const text = after.split('\n').slice(section!.next, section!.body)
        expect(text.findLast((one) => one.trim() !== '')).toBe(entry)
        const others = own(after).filter((one) => !one.includes(entry))
        const kept = own(before)
        for (const one of others) expect(kept.some((old) => CLOSED.some((closing) => `${old}${closing}` === one))).toBe(true)
        expect(kept.length + made.length).toBe(own(after).length)
        expect(conclusionOf(after)).toBe(conclusionOf(before))
      }),
      { ...DRAWN, numRuns: FULL ? 2_000 : 600 },
    )
  })

  test('and a parser of Markdown sees one item of a list, with no code, heading, HTML, image or foreign link in it', () => {
    const doc = lines('# S', '', '## Notes', '', 'text', '', '## Conclusion', '', 'Done.')
    fc.assert(
      fc.property(decision, (said) => {
        const tokens = new Lexer({ gfm: true }).lex(withDecision(doc, decisionEntry(said))).filter(({ type }) => type !== 'space')
        expect(tokens.map(({ type }) => type)).toEqual(['heading', 'heading', 'paragraph', 'heading', 'list', 'heading', 'paragraph'])
        const inside = within((tokens[4] as any).items[0].tokens)
        expect((tokens[4] as any).items).toHaveLength(1)
        expect(inside.filter(({ type }) => ['code', 'codespan', 'heading', 'html', 'image', 'table', 'del', 'em'].includes(type))).toEqual(
          [],
        )
        const links = inside.filter(({ type }) => type === 'link') as { href: string; raw: string }[]
        expect(links.filter(({ raw }) => raw.startsWith('['))).toEqual([
          expect.objectContaining({ href: `/approvals/${said.proposalId}` }) as any,
        ])
      }),
      { numRuns: 500 },
    )
  })

  test('a hostile doc of 512 KiB takes linear time', () => {
    for (const piece of ['- **', '\n', '```\n', '## Decisions\n', ' ', '- **[record](/approvals/'])
      expect(cpuMs(() => withDecision(piece.repeat(Math.floor((512 * 1024) / piece.length)), ENTRY))).toBeLessThan(2_000)
    expect(cpuMs(() => withoutEntriesOf('- **'.repeat(128 * 1024), new Set([ID])))).toBeLessThan(2_000)
  })
})

const within = (tokens: Token[]): Token[] => tokens.flatMap((token) => [token, ...within((token as { tokens?: Token[] }).tokens ?? [])])
