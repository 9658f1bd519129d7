// A place to link to at each heading of a rendered text.
const HEADING = /<(h[1-6])>([^]*?)<\/\1>/g
const MARKUP = /<[^>]*>|&\w+;/g
const NO_PART_OF_A_WORD = /[^\p{L}\p{M}\p{N}]+/gu
const ANCHORS = 1_000 // a text of nothing but headings would be ten times as long in its page
const ID_CHARACTERS = 80

/** What `renderMarkdown` makes, with an id for each heading, `doc-` and its words, and a link to it. The prefix keeps what others write
 *  from the ids of the page. */
export const withAnchors = (html: string): string => {
  const taken = new Map<string, number>()
  let anchors = 0
  return html.replace(HEADING, (heading, tag: string, inner: string) => {
    if (++anchors > ANCHORS) return heading
    const id = freeId(`doc-${wordsOf(inner)}`, taken)
    return `<${tag} id="${id}">${inner}<a href="#${id}" class="anchor" aria-label="Link to this section"></a></${tag}>`
  })
}

const wordsOf = (inner: string): string => {
  const words = inner.replace(MARKUP, '').slice(0, ID_CHARACTERS).toLowerCase().replace(NO_PART_OF_A_WORD, '-')
  return words.replace(/^-|-$/g, '') || 'section'
}

// The second of the same words is `doc-notes-2`, unless a heading says just that.
const freeId = (wanted: string, taken: Map<string, number>): string => {
  let n = taken.get(wanted) ?? 0
  let id = wanted
  if (n > 0) while (taken.has((id = `${wanted}-${++n}`)));
  taken.set(wanted, Math.max(n, 1))
  if (id !== wanted) taken.set(id, 1)
  return id
}
