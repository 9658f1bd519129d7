// The rows of the feed that are on the page.
import { $ } from './elements.js'

/** The sequence of a row; 0 for a day or a gap. */
export const sequenceOf = (row) => Number(/^m(\d+)$/.exec(row?.id)?.[1] ?? 0)

export const firstShown = (rows) => edge(rows.firstElementChild, 'nextElementSibling')
/** The newest sequence that the page knows of. Its row may lie beyond a gap, and not be loaded yet. */
export const newestKnown = (rows) => Math.max($('live').dataset.cursor, edge(rows.lastElementChild, 'previousElementSibling'))

const edge = (from, step) => {
  let row = from
  while (row && !sequenceOf(row)) row = row[step]
  return sequenceOf(row)
}

export const atEnd = (scroller) => scroller.scrollTop > -80 // counted from the end (session.css, feed-scroll)
