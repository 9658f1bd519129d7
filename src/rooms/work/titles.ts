// Items of the board by their titles, in the words of an event.

export const quoted = (title: unknown) => `“${String(title)}”`

/** `“Parser” and 2 more`. */
export const titlesOf = (items: unknown): string => {
  const [first, ...more] = listOf(items)
  return first === undefined ? 'work' : `${quoted(Object(first).title)}${more.length > 0 ? ` and ${more.length} more` : ''}`
}

/** `: “Parser” and 2 more can begin`, of what an event says is ready; empty where nothing is. */
export const whatCanBegin = (items: unknown): string => (listOf(items).length > 0 ? `: ${titlesOf(items)} can begin` : '')

const listOf = (items: unknown): unknown[] => (Array.isArray(items) ? items : [])
