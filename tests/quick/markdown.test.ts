import { describe, expect, test } from 'bun:test'
import { prepareMarkdown, renderMarkdown } from '../../src/markdown/render.ts'
import { chunksOf } from '../../src/markdown/chunks.ts'
import { escapeInvisible } from '../../src/core/text/escape-invisible.ts'
import { KIB_32, WORST } from '../support/worst.ts'
import { HOSTILE, PAYLOADS } from '../support/payloads.ts'
import { cpuMs, cpuMsAsync } from '../support/cpu.ts'

const TAGS = /^(h[1-6]|p|br|hr|blockquote|pre|code|em|strong|del|a|span|ul|ol|li|table|thead|tbody|tr|th|td)$/
const ATTRIBUTES = /^(href|title|rel|target|tabindex|class|role|aria-label|align|start|dir)$/

interface Found {
  tag: string
  attributes: [string, string][]
}

const elementsOf = (html: string): Found[] => {
  const found: Found[] = []
  new HTMLRewriter()
    .on('*', { element: ({ tagName, attributes }) => void found.push({ tag: tagName, attributes: [...attributes] as [string, string][] }) })
    .transform(html)
  return found
}

const isHarmless = ({ tag, attributes }: Found): boolean =>
  TAGS.test(tag) &&
  attributes.every(
    ([name, value]) =>
      ATTRIBUTES.test(name) &&
      (name !== 'href' || leadsNowhere(value.replaceAll('&amp;', '&'))) &&
      (name !== 'class' || /^(hl-[kscn]|cb|cb cb-on|ctl)$/.test(value)),
  )

// As a browser reads it: what is no address of ours or of these kinds.
const leadsNowhere = (address: string) =>
  !URL.canParse(address, 'https://here.example') ||
  (/^(https?|mailto):$/.test(new URL(address, 'https://here.example').protocol) && !/^[/\\]{2}/.test(address))

test('what an agent writes stays text: nothing but what the list allows comes out', () => {
  expect(HOSTILE.length).toBeGreaterThanOrEqual(300)
  for (const payload of PAYLOADS)
    expect({ payload, harm: elementsOf(renderMarkdown(payload)).filter((found) => !isHarmless(found)) }).toEqual({ payload, harm: [] })
})

test('ordinary markdown keeps its shape', () => {
  const html = renderMarkdown(
    '# Goals\n\nMove **all** of `it`:\n\n- [x] done\n- [ ] open\n\n|a|b|\n|-|-:|\n|1|2|\n\n```ts\nconst a = 1 // why\n```',
  )
  expect(html).toContain('<h1>Goals</h1>')
  expect(html).toContain('<strong>all</strong>')
  expect(html).toContain('<span class="cb cb-on" role="img" aria-label="done"></span>')
  expect(html).toContain('<td align="right">2</td>')
  expect(html).toContain('<span class="hl-k">const</span>')
  expect(html).toContain('<span class="hl-c">// why</span>')
})

test('of a shell’s line an address, an option and a pattern are no comment', () => {
  const colours = (code: string) =>
    [...renderMarkdown(`\`\`\`sh\n${code}\n\`\`\``).matchAll(/hl-c">([^<]*)/g)].map(([, comment]) => comment)
  expect(colours('curl -sS --fail-with-body http://127.0.0.1:7423/mcp docs/*')).toEqual([])
  expect(colours('ls # all of it')).toEqual(['# all of it'])
  expect(colours('select 1 -- one')).toEqual(['-- one'])
  expect(colours('f(/* now */)')).toEqual(['/* now */'])
})

test('links leave without a referrer and images become links', () => {
  expect(renderMarkdown('[x](https://a.example)')).toContain('rel="noopener noreferrer nofollow ugc"')
  const image = renderMarkdown('![a graph](https://a.example/b.png)')
  expect(image).not.toContain('<img')
  expect(image).toContain('href="https://a.example/b.png"')
  expect(image).toContain('a graph')
})

test('direction and tag characters are shown, also when written as entities', () => {
  for (const text of ['a\u202eb', 'a&#x202e;b']) expect(renderMarkdown(text)).toContain('a<span class="ctl">U+202E</span>b')
  expect(renderMarkdown('[x](https://a.example/\u202e)')).not.toContain('\u202e')
  expect(escapeInvisible('a\u{e0041}b')).toBe('a⟨U+E0041⟩b')
})

test('an address is judged as the reader gets it, without its invisible characters', () => {
  const addresses = [
    'vs\u200ecode://x',
    'java\u200escript:alert(1)',
    'da\u{e0041}ta:text/html,hi',
    'v\u202abs\u2069cript:x',
    '/\u061c/b.example/a',
  ]
  for (const address of addresses)
    for (const text of [`![Click me](${address})`, `![Click me][a]\n\n[a]: ${address}`])
      expect(
        elementsOf(renderMarkdown(text))
          .find(({ tag }) => tag === 'a')!
          .attributes.map(([name]) => name),
        address,
      ).not.toContain('href')
  expect(renderMarkdown('![x](https://a.example/\u202eb)')).toContain('href="https://a.example/b"')
})

describe('a text of 32 KiB that is made to be slow holds nobody up', () => {
  // Each takes 50 ms at most (bench/markdown.ts). Without its limits the renderer needs seconds.
  for (const [name, text] of Object.entries(WORST))
    test(name, () => {
      let html = ''
      expect(cpuMs(() => (html = renderMarkdown(text)))).toBeLessThan(1_000)
      expect(html.length).toBeLessThan(text.length * 40)
    })
})

test('a long document is rendered while others get their turn, and is the same then', async () => {
  const text = Object.values(WORST)
    .join('\n\n')
    .slice(0, 512 * 1024)
  let turns = 0
  const timer = setInterval(() => turns++, 1)
  const preparing = await cpuMsAsync(() => Promise.all([prepareMarkdown(text), prepareMarkdown(text)]))
  clearInterval(timer)
  expect(turns).toBeGreaterThan(3)
  let html = ''
  const rendering = [1, 2, 3].map(() => cpuMs(() => (html = renderMarkdown(text))))
  expect(Math.min(...rendering)).toBeLessThan(preparing / 5) // it lay ready
  expect(html.length).toBeGreaterThan(text.length)
})

describe('a long text is cut where it hurts least', () => {
  const sections = Array.from({ length: 200 }, (_, i) => `## Part ${i}\n\n${'lorem ipsum '.repeat(20)}\n\n- one\n- two\n`).join('\n')

  test('nothing is lost, and pieces begin with a heading or paragraph', () => {
    const pieces = chunksOf(sections)
    expect(pieces.join('\n')).toBe(sections)
    expect(pieces.length).toBeGreaterThan(5)
    for (const piece of pieces) expect(piece).toMatch(/^(## Part|lorem)/)
    expect(renderMarkdown(sections).match(/<h2>/g)).toHaveLength(200)
  })

  test('a table goes on under its head', () => {
    const table = `|name|value|\n|-|-|\n${'|some name|some value|\n'.repeat(1_000)}`
    const html = renderMarkdown(table)
    expect(html.match(/<td>some value<\/td>/g)).toHaveLength(1_000)
    expect(html.match(/<th>name<\/th>/g)!.length).toBeGreaterThan(1)
    expect(html).not.toContain('|')
  })

  test('code of a whole message is not cut, and longer code goes on as code', () => {
    const code = `${'const answer = 42\n\n'.repeat(1_500)}# no heading`
    const html = renderMarkdown(`Before\n\n\`\`\`ts\n${code}\n\`\`\`\n\nAfter`)
    expect(html.match(/<pre/g)).toHaveLength(1)
    expect(html).toContain('<p>After</p>')
    expect(html).not.toContain('<h1>')
    const longer = renderMarkdown(`\`\`\`\n${`${code}\n`.repeat(4)}x${'`'.repeat(9_000)}\n# no heading\n\`\`\`\n# Heading`)
    expect(longer.match(/# no heading/g)).toHaveLength(5)
    expect(longer.match(/<h1>/g)).toHaveLength(1)
  })

  test('a link is defined in one piece and used in another', () => {
    expect(renderMarkdown(`[spec]\n\n${sections}\n\n[spec]: https://a.example/spec`)).toContain('href="https://a.example/spec"')
  })

  test('a line of any length is cut at a space', () => {
    const line = 'lorem ipsum '.repeat(43_000)
    expect(chunksOf(line).every((piece) => piece.length <= 8 * 1024 && piece.endsWith('ipsum '))).toBe(true)
  })
})

describe('ordinary text is not mistaken for an attack', () => {
  const ORDINARY: Record<string, string> = {
    'a list of 100 short items': '- [ ] done\n'.repeat(100),
    'a paragraph full of names_with_underscores': 'The call_site of `wait_for_messages` and *post_message*. '.repeat(20),
    'a table of numbers': `|${'n|'.repeat(12)}\n|${'-|'.repeat(12)}\n${`|${'1|'.repeat(12)}\n`.repeat(100)}`,
    'nested lists': Array.from({ length: 60 }, (_, i) => `${'  '.repeat(i % 6)}- item ${i}`).join('\n'),
    'quotes of quotes': Array.from({ length: 6 }, (_, i) => `${'> '.repeat(i + 1)}said ${i}`).join('\n\n'),
    'many links': Array.from({ length: 100 }, (_, i) => `see [the page ${i}](https://a.example/page/${i})`).join(', '),
  }
  for (const [name, text] of Object.entries(ORDINARY))
    test(name, () => {
      const html = renderMarkdown(text)
      expect(html).not.toContain('<pre')
      expect(html).toMatch(/<(li|em|td|blockquote|a )/)
    })
})

test('an underlined title is a heading', () => {
  expect(renderMarkdown('Goals\n=====\n\nNotes\n---\n')).toBe('<h1>Goals</h1>\n<h2>Notes</h2>\n')
})

test('the second time costs nothing', () => {
  const text = 'lorem ipsum '.repeat(KIB_32 / 12)
  const html = renderMarkdown(text)
  expect(
    cpuMs(() => {
      for (let i = 0; i < 1_000; i++) expect(renderMarkdown(text) === html).toBe(true)
    }),
  ).toBeLessThan(500)
})

test('line breaks are kept as they were written, and none stands between the blocks of an item', () => {
  expect(renderMarkdown('one\ntwo')).toBe('<p>one\ntwo</p>\n')
  expect(renderMarkdown('- one\n  two\n  - three\n\n    four\n  > five\n')).toBe(
    '<ul dir="auto">\n<li>one\ntwo<ul dir="auto">\n<li><p>three</p><p>four</p></li>\n</ul><blockquote dir="auto">\n<p>five</p>\n</blockquote></li>\n</ul>\n',
  )
  expect(renderMarkdown('1. one\n   ```\n   two\n\n   three\n   ```\n   four')).toContain('<code>two\n\nthree</code></pre>four</li>')
})

test('lists, quotes and tables run the way their text does; a list keeps its first number', () => {
  expect(renderMarkdown('3. שלום')).toContain('<ol dir="auto" start="3">')
  expect(renderMarkdown('> שלום')).toContain('<blockquote dir="auto">')
  expect(renderMarkdown('| א | ב |\n| - | -: |\n| ג | ד |')).toContain('<table dir="auto">')
})

test('a long cell is a paragraph, and a table that may scroll can be reached by the keyboard', () => {
  expect(renderMarkdown('| a | b |\n| - | -: |\n| short | 1 |')).not.toMatch(/tabindex|<p>/)
  const long = 'needs 2.4 times the memory on the corpus'
  expect(renderMarkdown(`| a | b |\n| - | -: |\n| short | ${long} |`)).toContain(`<table dir="auto" tabindex="0">`)
  expect(renderMarkdown(`| a | b |\n| - | -: |\n| short | ${long} |`)).toContain(`<td align="right"><p>${long}</p></td>`)
  expect(renderMarkdown(`| a | b |\n| - | - |\n| [here](https://example.com/${'x'.repeat(99)}) | 1 |`)).not.toContain('<p>')
  expect(renderMarkdown('|1|2|3|4|5|\n|-|-|-|-|-|')).toContain('tabindex="0"')
})
