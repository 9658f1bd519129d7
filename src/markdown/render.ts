// An agent's markdown as HTML that can do nothing: raw HTML is shown as text, and the result passes an allow-list.
// No text blocks the process: it is rendered in chunks, and a chunk that would be slow is shown unformatted. What counts as slow follows
// from the text and never from the clock, so that every reader sees the same. bench/markdown.ts measures the limits.
import { LRUCache } from 'lru-cache'
import { Lexer, Marked, Renderer, type Tokens } from 'marked'
import sanitizeHtml from 'sanitize-html'
import { escaped, highlight } from './highlight.ts'
import { pause } from '../core/runtime/pause.ts'
import { DELIMITERS, chunksOf } from './chunks.ts'
import { underlinedHeadingOf } from './headings.ts'
import { htmlBlockOf } from './html-blocks.ts'
import { escapeInvisible } from '../core/text/escape-invisible.ts'

// Nested quotes and items: marked recurses for each level, and reads the rest of the text again.
const TOO_DEEP = /^(?:[ \t]{48}[ \t]*(?:[-*+]|\d{1,9}[.)]|>)|(?:[ \t]*(?:>|(?:[-*+]|\d{1,9}[.)])[ \t])){12})/m
// marked scans to the end of the chunk from each line that could begin a table, and fills short rows up to the width of the head.
const TABLES = 40
const CELLS = 6_000
// An item, quote or fence takes 20 µs, a paragraph (counted by its blank line) 8 µs. A chunk may have BLOCKS of them, and one more for
// every 20 characters.
const BLOCKS = 100
const BLOCK = /^[ \t]*(?:(?:[-*+>]|\d{1,9}[.)])[ \t]*)+|^ {0,3}(?:```|~~~)|^[ \t]*$/gm
const CHARACTERS_PER_BLOCK = 20
// marked's inline lexer is quadratic: it rescans a paragraph from every delimiter, at 1 to 10 ns a character (8 KiB of `_a_` are 45 million
// steps). A chunk has a budget of delimiters × characters; paragraphs beyond it stay plain text.
const STEPS = 50_000
const STEPS_PER_CHARACTER = 100
const INLINE_DELIMITERS = /[*_~!)<]/g
// A link address that is defined once can be used at every third character, and each link takes the sanitiser 5 µs: beyond so many
// characters of addresses in a chunk, links are shown as their text.
const ADDRESS_CHARACTERS = 24 * 1024
const CHARACTERS_PER_LINK = 20 // counted for each on top of its address

const WIDE = 5 // columns; markdown.css has the same number
const LONG_CELL = 24 // characters

// Of texts and their markup together; the one not used for longest makes room.
const cache = new LRUCache<string, string>({
  maxSize: 16 * 1024 * 1024,
  sizeCalculation: (html, text) => 1 + text.length + html.length,
})
const SLICE_MS = 8
const SHORT = 2 * 1024 // characters: rendered at once, without slices

/** Markdown as safe HTML: no script, no handler, no id, style or data attribute; links leave no trace; invisible characters are shown. */
export const renderMarkdown = (text: string): string => {
  const cached = cache.get(text)
  if (cached !== undefined) return cached
  const rendering = render(text)
  for (;;) {
    const { done, value } = rendering.next()
    if (done) return keep(text, value)
  }
}

/** Renders a long text in slices while other requests get their turn; `renderMarkdown` then has it in the cache. */
export const prepareMarkdown = (text: string): Promise<void> => {
  if (text.length < SHORT || cache.get(text) !== undefined) return Promise.resolve()
  const underWay = preparing.get(text) ?? prepare(text).finally(() => preparing.delete(text))
  preparing.set(text, underWay)
  return underWay
}

const preparing = new Map<string, Promise<void>>()
let began = 0 // when the current turn of the event loop began to render, whichever text

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

const keep = (text: string, html: string): string => {
  cache.set(text, html)
  return html
}

// Yields after each step, which takes a few milliseconds at most.
function* render(text: string): Generator<undefined, string> {
  const links: Lexer['tokens']['links'] = Object.create(null)
  const lexed: { lexer?: Lexer; chunk: string }[] = []
  for (const chunk of chunksOf(text.replace(/\r\n?/g, '\n'))) {
    lexed.push(isSlow(chunk) ? { chunk } : { chunk, lexer: blocksOf(chunk, links) })
    yield
  }
  let html = ''
  for (const { lexer, chunk } of lexed) {
    html += withVisible(sanitizeHtml(lexer ? htmlOf(lexer, chunk.length) : unformatted(chunk), ALLOWED))
    yield
  }
  return html
}

const unformatted = (text: string) => `<pre tabindex="0">${escaped(text)}</pre>`

const isSlow = (chunk: string): boolean => {
  if (TOO_DEEP.test(chunk)) return true
  const lines = chunk.split('\n')
  const blocks = chunk.match(BLOCK)?.reduce((sum, prefix) => sum + Math.max(1, prefix.replace(/\s/g, '').length), 0) ?? 0
  if (blocks > BLOCKS + chunk.length / CHARACTERS_PER_BLOCK) return true
  const heads = lines.filter((line) => line.includes('|') && DELIMITERS.test(line))
  return heads.length > TABLES || heads.some((head) => head.split('|').length * lines.length > CELLS)
}

// All chunks share `links`: a link may be defined in one chunk and used in another.
const blocksOf = (chunk: string, links: Lexer['tokens']['links']): Lexer => {
  const lexer = new Lexer(marked.defaults)
  marked.defaults.tokenizer!.rules.block = BLOCK_RULES
  lexer.tokens.links = links
  lexer.blockTokens(chunk, lexer.tokens)
  return lexer
}

// marked 18.2 lets no tag in capitals end a paragraph or table.
const { paragraph, table, blockquote } = Lexer.rules.block.gfm
const anyCase = ({ source }: RegExp) => new RegExp(source, 'i')
const BLOCK_RULES = {
  ...Lexer.rules.block.gfm,
  paragraph: anyCase(paragraph),
  table: anyCase(table),
  blockquote: anyCase(blockquote),
}

const htmlOf = (lexer: Lexer, length: number): string => {
  let steps = STEPS + STEPS_PER_CHARACTER * length
  for (const { src, tokens } of lexer.inlineQueue) {
    const wanted = src.length * (src.match(INLINE_DELIMITERS)?.length ?? 0)
    if (wanted > steps) tokens.push({ type: 'text', raw: src, text: src, escaped: false })
    else lexer.inlineTokens(src, tokens)
    steps -= Math.min(wanted, steps)
  }
  addresses = 0
  return marked.parser(lexer.tokens)
}

let addresses = 0 // characters of link addresses in this chunk so far

const marked = new Marked({
  gfm: true,
  tokenizer: {
    // What is a heading here is one in the outline too. And marked 18.2 spends 5 µs on each character of every paragraph to find out that
    // it is no underlined heading.
    lheading(text) {
      const { lines = [], level = 0 } = underlinedHeadingOf(text) ?? {}
      if (level === 0) return undefined
      const title = lines
        .slice(0, -1)
        .map((line) => line.trim())
        .join('\n')
      return { type: 'heading', raw: lines.join('\n'), depth: level, text: title, tokens: this.lexer.inline(title) }
    },
    html(text) {
      const raw = htmlBlockOf(text, this.lexer.state.lastToken?.type === 'paragraph')
      return raw === undefined ? undefined : { type: 'html', block: true, raw, pre: false, text: raw }
    },
  },
  renderer: {
    html: ({ text, block }) => (block ? `<p>${escaped(text)}</p>` : escaped(text)),
    link({ href, title, tokens }) {
      addresses += CHARACTERS_PER_LINK + href.length + (title?.length ?? 0)
      return addresses > ADDRESS_CHARACTERS ? this.parser.parseInline(tokens) : false // false: as marked does it
    },
    image: ({ href, text }: Tokens.Image) => {
      addresses += CHARACTERS_PER_LINK + href.length
      return addresses > ADDRESS_CHARACTERS ? escaped(text) : `<a href="${escaped(href)}">${escaped(text || href)}</a>`
    },
    checkbox: ({ checked }) => `<span class="cb${checked ? ' cb-on' : ''}" role="img" aria-label="${checked ? 'done' : 'to do'}"></span>`,
    code: ({ text }) => `<pre tabindex="0"><code>${highlight(text)}</code></pre>\n`,
    // dir="auto": padding and bullets stand on the side where the text begins, in Arabic or Hebrew on the right.
    list(token) {
      const tag = token.ordered ? 'ol' : 'ul'
      const start = token.ordered && token.start !== 1 ? ` start="${token.start}"` : ''
      return `<${tag} dir="auto"${start}>\n${token.items.map((item) => this.listitem(item)).join('')}</${tag}>\n`
    },
    // The feed shows line breaks (markdown.css, md-feed): those that were written, but none between the blocks of an item.
    listitem({ tokens }) {
      return `<li>${tokens.map((token) => withoutBreak(this.parser.parse([token]))).join('')}</li>\n`
    },
    blockquote({ tokens }) {
      return `<blockquote dir="auto">\n${this.parser.parse(tokens)}</blockquote>\n`
    },
    // A table that may be too wide scrolls in a box of its own, by the keyboard too.
    table(token) {
      const html = Renderer.prototype.table.call(this, token)
      const scrolls = token.header.length >= WIDE || html.includes('<p>')
      return html.replace('<table>', `<table dir="auto"${scrolls ? ' tabindex="0"' : ''}>`)
    },
    // A long text in a cell is a paragraph, which markdown.css keeps from being squeezed into a column of single words.
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
  transformTags: {
    a: sanitizeHtml.simpleTransform('a', { rel: 'noopener noreferrer nofollow ugc', target: '_blank' }),
    // Before addresses are judged: without an invisible character in it, one may have another scheme.
    '*': (tagName, attribs) => ({
      tagName,
      attribs: Object.fromEntries(Object.entries(attribs).map(([name, value]) => [name, escapeInvisible(value, () => '')])),
    }),
  },
}

// After the sanitiser, which has turned every entity into its character. Tags stay as it has judged them.
const withVisible = (html: string) =>
  html.replace(/<[^>]*>|[^<]+/g, (part) => (part[0] === '<' ? part : escapeInvisible(part, (name) => `<span class="ctl">${name}</span>`)))
