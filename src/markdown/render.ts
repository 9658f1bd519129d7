// Text of agents as HTML that can do nothing: markdown is parsed, raw HTML is shown as text, and what comes out passes an allow-list.
// No text holds the process up: it is rendered in pieces, and a piece that is made to be slow is shown as it was written. The limits
// are of the text, never of the clock, so that everybody is shown the same. bench/markdown.ts measures them.
import { Lexer, Marked, Renderer, type Tokens } from 'marked'
import sanitizeHtml from 'sanitize-html'
import { escaped, highlight } from './highlight.ts'
import { pause } from '../core/pause.ts'
import { DELIMITERS, piecesOf } from './chunks.ts'
import { visible } from '../core/escape-invisible.ts'

// A quote in a quote in an item …: marked recurses for each, and reads the rest again.
const TOO_DEEP = /^(?:[ \t]{48}[ \t]*(?:[-*+]|\d{1,9}[.)]|>)|(?:[ \t]*(?:>|(?:[-*+]|\d{1,9}[.)])[ \t])){12})/m
// marked looks to the end of a table from each line that could begin one, and fills short rows up to the width of the head.
const TABLES = 40
const CELLS = 6_000
// An item, quote or fence takes 20 µs, a paragraph (a blank line counts) 8. This many in a piece, and one more for every 20 characters.
const BLOCKS = 100
const BLOCK = /^[ \t]*(?:(?:[-*+>]|\d{1,9}[.)])[ \t]*)+|^ {0,3}(?:```|~~~)|^[ \t]*$/gm
const CHARACTERS_A_BLOCK = 20
// A paragraph is read from each mark on that could end something: marks × characters, 1 to 10 ns each (8 KiB of `_a_`: 45 million).
const LOOKS = 50_000
const LOOKS_A_CHARACTER = 100
const MARKS = /[*_~!)<]/g
// An address that is defined once can be used at every third character; a link takes the sanitiser 5 µs.
const ADDRESSES = 24 * 1024
const EACH_ADDRESS = 20

const WIDE = 5 // columns: app.css has the same number
const LONG_CELL = 24 // characters

const CACHED_CHARACTERS = 16 * 1024 * 1024
const SLICE_MS = 8
const SHORT = 2 * 1024

/** Markdown as safe HTML: no script, no handler, no id, style or data attribute; links leave no trace; invisible marks are shown. */
export const renderMarkdown = (text: string): string => {
  const known = recall(text)
  if (known !== undefined) return known
  const rendering = render(text)
  for (;;) {
    const { done, value } = rendering.next()
    if (done) return keep(text, value)
  }
}

/** Renders a long text bit by bit while others get their turn, so that `renderMarkdown` has it at hand. */
export const prepareMarkdown = (text: string): Promise<void> => {
  if (text.length < SHORT || recall(text) !== undefined) return Promise.resolve()
  const underWay = preparing.get(text) ?? prepare(text).finally(() => preparing.delete(text))
  preparing.set(text, underWay)
  return underWay
}

const preparing = new Map<string, Promise<void>>()
let began = 0 // when this turn of the event loop began with a text, whichever

const prepare = async (text: string) => {
  const rendering = render(text)
  for (;;) {
    if (performance.now() - began > SLICE_MS) {
      await pause()
      began = performance.now()
    }
    const { done, value } = rendering.next()
    if (done) return void keep(text, value)
  }
}

const cache = new Map<string, string>()
let held = 0

const recall = (text: string): string | undefined => {
  const html = cache.get(text)
  if (html === undefined) return undefined
  cache.delete(text) // and to the end with it: the first entry is the one not used for longest
  cache.set(text, html)
  return html
}

const keep = (text: string, html: string): string => {
  if (cache.has(text)) return html
  cache.set(text, html)
  held += text.length + html.length
  for (const [oldest, markup] of cache) {
    if (held <= CACHED_CHARACTERS || oldest === text) break
    cache.delete(oldest)
    held -= oldest.length + markup.length
  }
  return html
}

// Stops between two pieces of work, each of a few milliseconds.
function* render(text: string): Generator<undefined, string> {
  const links: Lexer['tokens']['links'] = Object.create(null)
  const lexed: { lexer?: Lexer; piece: string }[] = []
  for (const piece of piecesOf(text.replace(/\r\n?/g, '\n'))) {
    lexed.push(isHard(piece) ? { piece } : { piece, lexer: blocksOf(piece, links) })
    yield
  }
  let html = ''
  for (const { lexer, piece } of lexed) {
    html += visibleIn(sanitizeHtml(lexer ? htmlOf(lexer, piece.length) : asWritten(piece), ALLOWED))
    yield
  }
  return html
}

const asWritten = (text: string) => `<pre tabindex="0">${escaped(text)}</pre>`

const isHard = (piece: string): boolean => {
  if (TOO_DEEP.test(piece)) return true
  const lines = piece.split('\n')
  const blocks = piece.match(BLOCK)?.reduce((sum, prefix) => sum + Math.max(1, prefix.replace(/\s/g, '').length), 0) ?? 0
  if (blocks > BLOCKS + piece.length / CHARACTERS_A_BLOCK) return true
  const heads = lines.filter((line) => line.includes('|') && DELIMITERS.test(line))
  return heads.length > TABLES || heads.some((head) => head.split('|').length * lines.length > CELLS)
}

// A link may be defined in one piece and used in another.
const blocksOf = (piece: string, links: Lexer['tokens']['links']): Lexer => {
  const lexer = new Lexer(marked.defaults)
  lexer.tokens.links = links
  lexer.blockTokens(piece, lexer.tokens)
  return lexer
}

const htmlOf = (lexer: Lexer, length: number): string => {
  let looks = LOOKS + LOOKS_A_CHARACTER * length
  for (const { src, tokens } of lexer.inlineQueue) {
    const wanted = src.length * (src.match(MARKS)?.length ?? 0)
    if (wanted > looks) tokens.push({ type: 'text', raw: src, text: src, escaped: false })
    else lexer.inlineTokens(src, tokens)
    looks -= Math.min(wanted, looks)
  }
  addresses = 0
  return marked.parser(lexer.tokens)
}

let addresses = 0 // characters of them in this piece so far

const marked = new Marked({
  gfm: true,
  tokenizer: {
    // marked's own (18.2) needs 5 µs for each character of every paragraph to find out that no line is drawn under it.
    lheading(text) {
      const [raw, line, rule] = /^([^\n]+)\n {0,3}(=+|-+)[ \t]*(?:\n+|$)/.exec(text) ?? []
      if (raw === undefined) return undefined
      const title = line!.trim()
      return { type: 'heading', raw, depth: rule![0] === '=' ? 1 : 2, text: title, tokens: this.lexer.inline(title) }
    },
  },
  renderer: {
    html: ({ text, block }) => (block ? `<p>${escaped(text)}</p>` : escaped(text)),
    link({ href, title, tokens }) {
      addresses += EACH_ADDRESS + href.length + (title?.length ?? 0)
      return addresses > ADDRESSES ? this.parser.parseInline(tokens) : false // false: as marked does it
    },
    image: ({ href, text }: Tokens.Image) => {
      addresses += EACH_ADDRESS + href.length
      return addresses > ADDRESSES ? escaped(text) : `<a href="${escaped(href)}">${escaped(text || href)}</a>`
    },
    checkbox: ({ checked }) => `<span class="cb${checked ? ' cb-on' : ''}" role="img" aria-label="${checked ? 'done' : 'to do'}"></span>`,
    code: ({ text }) => `<pre tabindex="0"><code>${highlight(text)}</code></pre>\n`,
    // dir="auto": its padding and marks stand where its text begins, in Arabic or Hebrew on the right.
    list(token) {
      const tag = token.ordered ? 'ol' : 'ul'
      const start = token.ordered && token.start !== 1 ? ` start="${token.start}"` : ''
      return `<${tag} dir="auto"${start}>\n${token.items.map((item) => this.listitem(item)).join('')}</${tag}>\n`
    },
    // The feed shows line breaks (app.css, md-feed): in an item only those that were written, none between its blocks.
    listitem({ tokens }) {
      return `<li>${tokens.map((token) => withoutBreak(this.parser.parse([token]))).join('')}</li>\n`
    },
    blockquote({ tokens }) {
      return `<blockquote dir="auto">\n${this.parser.parse(tokens)}</blockquote>\n`
    },
    // One that may need more room than there is scrolls in its own box, also for who has a keyboard alone.
    table(token) {
      const html = Renderer.prototype.table.call(this, token)
      const scrolls = token.header.length >= WIDE || html.includes('<p>')
      return html.replace('<table>', `<table dir="auto"${scrolls ? ' tabindex="0"' : ''}>`)
    },
    // What is long is a paragraph, which app.css keeps from being squeezed into a column of single words.
    tablecell(token) {
      const html = this.parser.parseInline(token.tokens)
      const tag = token.header ? 'th' : 'td'
      const align = token.align ? ` align="${token.align}"` : ''
      const isLong = html.replace(/<[^>]*>/g, '').length > LONG_CELL
      return `<${tag}${align}>${isLong ? `<p>${html}</p>` : html}</${tag}>\n`
    },
  },
})

const withoutBreak = (html: string) => (html.endsWith('\n') ? html.slice(0, -1) : html)

const ALLOWED: sanitizeHtml.IOptions = {
  allowedTags: 'h1 h2 h3 h4 h5 h6 p br hr blockquote pre code em strong del a span ul ol li table thead tbody tr th td'.split(' '),
  allowedAttributes: {
    a: ['href', 'title', 'rel', 'target'],
    pre: ['tabindex'],
    span: ['class', 'role', 'aria-label'],
    th: ['align'],
    td: ['align'],
    ol: ['start', 'dir'],
    ul: ['dir'],
    blockquote: ['dir'],
    table: ['dir', 'tabindex'],
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
