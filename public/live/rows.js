// What of the feed is on the page.
import { $ } from './elements.js'

/** 0 for what is no row: a day, a gap. */
export const sequenceOf = (row) => Number(/^m(\d+)$/.exec(row?.id)?.[1] ?? 0)

export const firstShown = (rows) => edge(rows.firstElementChild, 'nextElementSibling')
export const lastShown = (rows) => edge(rows.lastElementChild, 'previousElementSibling')

const edge = (from, step) => {
  let row = from
  while (row && !sequenceOf(row)) row = row[step]
  return sequenceOf(row)
}

export const atEnd = (scroller) => scroller.scrollTop > -80 // counted from the end: app.css, feed-scroll

export const toEnd = (path, scroller) => ($('gap') ? location.assign(path) : scroller.scrollTo({ top: 0 }))
