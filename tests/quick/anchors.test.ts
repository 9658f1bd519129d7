import { expect, test } from 'bun:test'
import { withAnchors } from '../../src/markdown/anchors.ts'
import { renderMarkdown } from '../../src/markdown/render.ts'
import { PAYLOADS } from '../support/payloads.ts'
import { cpuMs } from '../support/cpu.ts'

const anchored = (text: string) => withAnchors(renderMarkdown(text))
const idsOf = (html: string) => [...html.matchAll(/<h\d id="([^"]*)"/g)].map(([, id]) => id)

test('a heading has an id of its words and a link to it', () => {
  expect(anchored('## The `parser` & its *callers*!')).toBe(
    '<h2 id="doc-the-parser-its-callers">The <code>parser</code> &amp; its <em>callers</em>!' +
      '<a href="#doc-the-parser-its-callers" class="anchor" aria-label="Link to this section"></a></h2>\n',
  )
})

test('no two headings have the same id, in whatever script they are', () => {
  const text = '# Notes\n\n# Notes\n\n## Notes 2\n\n# Notes\n\n# Über uns\n\n# कार्यसूची\n\n# !\n\n> # ?\n'
  expect(idsOf(anchored(text))).toEqual([
    'doc-notes',
    'doc-notes-2',
    'doc-notes-2-2',
    'doc-notes-3',
    'doc-über-uns',
    'doc-कार्यसूची',
    'doc-section',
    'doc-section-2',
  ])
})

test('what looks like a heading is none', () => {
  for (const text of ['<h1>x</h1>', '`<h1>x</h1>`', '[x](https://a.example/<h1>)', '```\n# x\n```'])
    expect(anchored(text)).toBe(renderMarkdown(text))
})

test('without the ids and links it is what it was, and an id holds letters, digits and lines alone', () => {
  for (const payload of PAYLOADS) {
    const html = anchored(`# ${payload}\n\n${payload}`)
    for (const id of idsOf(html)) expect(id).toMatch(/^doc-[\p{L}\p{M}\p{N}]+(-[\p{L}\p{M}\p{N}]+)*$/u)
    expect(html.replace(/(?<=<h\d) id="[^"]*"|<a href="#[^"]*" class="anchor"[^>]*><\/a>/g, '')).toBe(
      renderMarkdown(`# ${payload}\n\n${payload}`),
    )
  }
})

test('a text of nothing but headings costs little', () => {
  const html = renderMarkdown('# a\n'.repeat(128 * 1024))
  let anchored = ''
  expect(cpuMs(() => (anchored = withAnchors(html)))).toBeLessThan(1_000)
  expect(idsOf(anchored)).toHaveLength(1_000)
  expect(anchored.length - html.length).toBeLessThan(128 * 1024)
})
