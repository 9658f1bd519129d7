// Text of agents as HTML that can do nothing: markdown is parsed, raw HTML is shown as text, and what comes out passes an allow-list.
import { Lexer, Marked, type Token } from 'marked'
import sanitizeHtml from 'sanitize-html'
import { highlight } from './highlight.ts'
import { visible } from './visible.ts'

// marked needs time with the square of a paragraph's length (18.2, 2 busy cores). To find its end: 32 KiB 190 ms, 512 KiB 48 s.
const LONGEST_RUN = 12 * 1024
// To find what is in it: 32 KiB of `_a_` 1.2 s, 6 KiB 40 ms.
const LONGEST_PARAGRAPH = 6 * 1024
// Over the whole text; what is left then is shown as it was written. Ordinary text of 10 KiB takes 2 to 5 ms.
const BUDGET_MS = 120
const BUDGET_MS_PER_KIB = 3
// A quote in a quote in a quote …: marked recurses for each (0.7 s, then its stack is full).
const TOO_DEEP = /^(?:[ \t]*(?:>|(?:[-*+]|\d{1,9}[.)])[ \t])){20}/m
const CACHED_CHARACTERS = 16 * 1024 * 1024

/** Markdown as safe HTML: no script, no handler, no id, style or data attribute; links leave no trace; invisible marks are shown. */
export const renderMarkdown = (text: string): string => {
  const known = cache.get(text)
  if (known !== undefined) cache.delete(text) // and to the end with it: the first entry is the one not used for longest
  const html = known ?? visibleIn(sanitizeHtml(toHtml(text), ALLOWED))
  cache.set(text, html)
  if (known === undefined) held += text.length + html.length
  for (const [oldest, markup] of cache) {
    if (held <= CACHED_CHARACTERS) break
    cache.delete(oldest)
    held -= oldest.length + markup.length
  }
  return html
}

const cache = new Map<string, string>()
let held = 0

const escaped = (text: string) => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

const toHtml = (text: string): string => {
  if (TOO_DEEP.test(text) || longestRun(text) > LONGEST_RUN) return asWritten(text)
  try {
    return marked.parser(tokensOf(text))
  } catch {
    return asWritten(text)
  }
}

const asWritten = (text: string) => `<pre tabindex="0">${escaped(text)}</pre>`

// Characters from one blank line, heading, quote or item to the next.
const longestRun = (text: string): number => {
  if (text.length <= LONGEST_RUN) return text.length
  let run = 0
  let longest = 0
  for (const line of text.split('\n')) {
    run = /^[ \t]*(?:$|[#>]|[-*+][ \t]|\d{1,9}[.)][ \t])/.test(line) ? line.length : run + line.length
    longest = Math.max(longest, run)
  }
  return longest
}

// As marked's own lexer does it, with a look at the clock between paragraphs.
const tokensOf = (text: string): Token[] => {
  const lexer = new Lexer(marked.defaults)
  const until = performance.now() + BUDGET_MS + (BUDGET_MS_PER_KIB * text.length) / 1024
  lexer.blockTokens(text.replace(/\r\n?/g, '\n'), lexer.tokens)
  for (const { src, tokens } of lexer.inlineQueue) {
    if (src.length > LONGEST_PARAGRAPH || performance.now() > until) tokens.push({ type: 'text', raw: src, text: src, escaped: false })
    else lexer.inlineTokens(src, tokens)
  }
  return lexer.tokens
}

const marked = new Marked({
  gfm: true,
  renderer: {
    html: ({ text, block }) => (block ? `<p>${escaped(text)}</p>` : escaped(text)),
    image: ({ href, text }) => `<a href="${escaped(href)}">${escaped(text || href)}</a>`,
    checkbox: ({ checked }) => `<span class="cb${checked ? ' cb-on' : ''}" role="img" aria-label="${checked ? 'done' : 'to do'}"></span>`,
    code: ({ text }) => `<pre tabindex="0"><code>${highlight(text, escaped)}</code></pre>\n`,
  },
})

const ALLOWED: sanitizeHtml.IOptions = {
  allowedTags: 'h1 h2 h3 h4 h5 h6 p br hr blockquote pre code em strong del a span ul ol li table thead tbody tr th td'.split(' '),
  allowedAttributes: {
    a: ['href', 'title', 'rel', 'target'],
    pre: ['tabindex'],
    span: ['class', 'role', 'aria-label'],
    th: ['align'],
    td: ['align'],
    ol: ['start'],
  },
  allowedClasses: { span: ['hl-k', 'hl-s', 'hl-c', 'hl-n', 'cb', 'cb-on'] },
  allowedSchemes: ['http', 'https', 'mailto'],
  allowProtocolRelative: false,
  transformTags: { a: sanitizeHtml.simpleTransform('a', { rel: 'noopener noreferrer nofollow ugc', target: '_blank' }) },
}

// After the sanitiser, which has turned every entity into its character: in text a mark, in an attribute nothing.
const visibleIn = (html: string) =>
  html.replace(/<[^>]*>|[^<]+/g, (part) =>
    part[0] === '<' ? visible(part, () => '') : visible(part, (name) => `<span class="ctl">${name}</span>`),
  )
