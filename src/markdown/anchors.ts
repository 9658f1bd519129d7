// Gives each heading of a rendered text an id and a link to itself, and leads the text's own links to its headings there.
const HEADING = /<(h[1-6])>([^]*?)<\/\1>/g
const MARKUP = /<[^>]*>|&\w+;/g
const NO_PART_OF_A_WORD = /[^\p{L}\p{M}\p{N}]+/gu
const ANCHORS = 1_000 // anchors make a text of nothing but headings ten times as long
const ID_CHARACTERS = 80

/** HTML of `renderMarkdown` with an id for each heading, `doc-` and its words, and a link to it. The prefix keeps a heading from taking an
 *  id of the page. A link of the text to a heading, `[Goals](#goals)`, leads there. */
export const withAnchors = (html: string): string => {
  const taken = new Map<string, number>()
  const ids = new Map<string, string>() // by what a link may call the heading
  let anchors = 0
  const anchored = html.replace(HEADING, (heading, tag: string, inner: string) => {
    if (++anchors > ANCHORS) return heading
    const words = wordsOf(inner)
    const id = freeId(`doc-${words}`, taken)
    for (const name of [id, words]) if (!ids.has(bare(name))) ids.set(bare(name), id)
    return `<${tag} id="${id}">${inner}<a href="#${id}" class="anchor" aria-label="Link to this section"></a></${tag}>`
  })
  return anchored.replace(LINK, (link, fragment: string, title = '') => {
    const id = ids.get(bare(decoded(fragment)))
    return id === undefined ? link : `<a href="#${id}"${title}>`
  })
}

// A link to a heading. The sanitiser has made it open a tab of its own, as it does with every link (render.ts).
const LINK = /<a href="#([^"]+)"( title="[^"]*")? rel="[^"]*" target="_blank">/g

// GitHub writes `#dont-stop` for "Don't stop", others `#don-t-stop`: only letters and digits tell headings apart.
const bare = (name: string): string => name.toLowerCase().replace(NO_PART_OF_A_WORD, '')

const decoded = (fragment: string): string => {
  try {
    return decodeURIComponent(fragment)
  } catch {
    return fragment
  }
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
