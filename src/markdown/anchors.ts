// Gives each heading of a rendered text an id and a link to itself.
const HEADING = /<(h[1-6])>([^]*?)<\/\1>/g
const MARKUP = /<[^>]*>|&\w+;/g
const NO_PART_OF_A_WORD = /[^\p{L}\p{M}\p{N}]+/gu
const ANCHORS = 1_000 // anchors make a text of nothing but headings ten times as long
const ID_CHARACTERS = 80

/** HTML of `renderMarkdown` with an id for each heading, `doc-` and its words, and a link to it. The prefix keeps a heading from taking an
 *  id of the page. */
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

// The second heading of the same words is `doc-notes-2`, unless another heading has these words.
const freeId = (wanted: string, taken: Map<string, number>): string => {
  let n = taken.get(wanted) ?? 0
  let id = wanted
  if (n > 0) while (taken.has((id = `${wanted}-${++n}`)));
  taken.set(wanted, Math.max(n, 1))
  if (id !== wanted) taken.set(id, 1)
  return id
}
