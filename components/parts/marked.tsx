import { escapeInvisible } from '../../src/core/text/escape-invisible.ts'
import { placeInText } from '../../src/core/text/nfkc.ts'

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
  const compared = text.normalize('NFKC')
  const inText = (place: number) => (compared === text ? place : placeInText(text, place))
  const lower = lowered(compared)
  for (const term of terms)
    for (let at = lower.indexOf(term); at >= 0; at = lower.indexOf(term, at + 1))
      if (isEdge(compared, at) && isEdge(compared, at + term.length)) marks.fill(true, inText(at), inText(at + term.length))
  return marks
}

// In lower case, at the same length, so that indexes stay valid: İ, which would become two characters, stays.
const lowered = (text: string) =>
  text.replace(/\p{Lu}/gu, (letter) => (letter.toLowerCase().length === letter.length ? letter.toLowerCase() : letter))

// A word begins or ends here, or a part of one (userName, TS2345). In scripts without spaces every place is an edge.
const EDGE =
  /^(?:[^\p{L}\p{N}\p{M}]|.[^\p{L}\p{N}\p{M}]|[\p{Ll}\p{N}]\p{Lu}|\p{Lu}{2}\p{Ll}|\p{L}\p{N}|\p{N}\p{L}|.?[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}])/u

const isEdge = (text: string, at: number) => at === 0 || at >= text.length || EDGE.test(text.slice(at - 1, at + 2))
