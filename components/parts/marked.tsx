import { escapeInvisible } from '../../src/core/text/escape-invisible.ts'
import { wordPlaces } from '../../src/core/text/word-places.ts'

/** A line of text with the terms of a search marked: whole words, and the parts of names that the index has as words. */
export const Marked = ({ text, terms }: { text: string; terms: string[] }) =>
  partsOf(escapeInvisible(text), terms).map(({ text, marked }, i) => (marked ? <mark key={i}>{text}</mark> : text))

const partsOf = (text: string, terms: string[]) => {
  const marked = marksOf(text, terms)
  const parts: { text: string; marked: boolean }[] = []
  for (let from = 0, to = 1; from < text.length; from = to++) {
    while (to < text.length && marked[to] === marked[from]) to++
    parts.push({ text: text.slice(from, to), marked: marked[from]! })
  }
  return parts
}

// For each character whether a term covers it.
const marksOf = (text: string, terms: string[]): boolean[] => {
  const marks = Array<boolean>(text.length).fill(false)
  for (const [from, to] of wordPlaces(text, terms)) marks.fill(true, from, to)
  return marks
}
