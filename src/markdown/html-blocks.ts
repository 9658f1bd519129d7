// The HTML blocks of a markdown text, in which nothing is markdown: the seven kinds of CommonMark 0.31, section 4.6.

export interface HtmlBlock {
  opening: string // begins such a block
  closing: string // ends it; '' where a blank line does
  ends: RegExp // its last line, or the blank line after it
}

const RAW = /^ {0,3}<(pre|script|style|textarea)(?=[ \t>]|$)/i
const RAW_ENDS = /<\/(?:pre|script|style|textarea)>/i
const MARKED: { begins: RegExp; block: HtmlBlock }[] = [
  { begins: /^ {0,3}<!--/, block: { opening: '<!--', closing: '-->', ends: /-->/ } },
  { begins: /^ {0,3}<\?/, block: { opening: '<?', closing: '?>', ends: /\?>/ } },
  { begins: /^ {0,3}<![a-z]/i, block: { opening: '<!X', closing: '>', ends: />/ } },
  { begins: /^ {0,3}<!\[CDATA\[/, block: { opening: '<![CDATA[', closing: ']]>', ends: /\]\]>/ } },
]
const UNTIL_BLANK: HtmlBlock = { opening: '<div>', closing: '', ends: /^[ \t]*$/ }
const NAMES =
  'address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|fieldset|figcaption|' +
  'figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|menuitem|meta|nav|noframes|ol|optgroup|' +
  'option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul'
const BLOCK_TAG = new RegExp(`^ {0,3}</?(?:${NAMES})(?=[ \\t]|/?>|$)`, 'i')
const CLOSING_TAG = /^ {0,3}<\/[a-z][a-z0-9-]*[ \t]*>[ \t]*$/i
const OPENING_TAG = /^ {0,3}<[a-z][a-z0-9-]*/iy
const ATTRIBUTE = /[ \t]+[a-z_:][\w.:-]*(?:[ \t]*=[ \t]*(?:"[^"]*"|'[^']*'|[^\s"'=<>`]+))?/iy
const TAG_ENDS = /[ \t]*\/?>[ \t]*$/y

/** The HTML block that begins with this line. `interrupts`: a paragraph would go on here, which a tag of no block does not end. */
export const htmlBlockAt = (line: string, interrupts: boolean): HtmlBlock | undefined => {
  if (!/^ {0,3}</.test(line)) return undefined // as most lines
  const raw = RAW.exec(line)?.[1]
  if (raw !== undefined) return { opening: `<${raw}>`, closing: `</${raw}>`, ends: RAW_ENDS }
  const marked = MARKED.find(({ begins }) => begins.test(line))
  if (marked) return marked.block
  return BLOCK_TAG.test(line) || (!interrupts && isTag(line)) ? UNTIL_BLANK : undefined
}

/** The HTML block that a text begins with, to the end of its last line. */
export const htmlBlockOf = (text: string, interrupts: boolean): string | undefined => {
  let block: HtmlBlock | undefined
  for (let from = 0; ;) {
    const end = text.indexOf('\n', from)
    const to = end < 0 ? text.length : end
    const line = text.slice(from, to)
    block ??= htmlBlockAt(line, interrupts)
    if (!block) return undefined
    if (end < 0 || block.ends.test(line)) return text.slice(0, to)
    from = to + 1
  }
}

// Whether the line is one tag and nothing else. A pattern that repeats the attribute would go back through all of them.
const isTag = (line: string): boolean => {
  if (CLOSING_TAG.test(line)) return true
  let at = endOf(OPENING_TAG, line, 0)
  if (at === undefined) return false
  for (let next; (next = endOf(ATTRIBUTE, line, at)) !== undefined;) at = next
  return endOf(TAG_ENDS, line, at) !== undefined
}

const endOf = (pattern: RegExp, line: string, from: number): number | undefined => {
  pattern.lastIndex = from
  return pattern.test(line) ? pattern.lastIndex : undefined
}
