// Where the terms of a search stand in a text, in whatever form they are written there. The index has whole words and the parts of names
// (userName, TS2345); within another word a term is not what was found.
import { inNfkc, placeInText } from './nfkc.ts'

const MOST_PLACES = 10_000 // within other words, of which a text may be full: of all terms, each has its share

/** The places, from and to, where one of the terms stands as a word. */
export const wordPlaces = (text: string, terms: string[]): [number, number][] => {
  const compared = comparedForm(text, terms)
  return terms.flatMap((term) => {
    const places: [number, number][] = []
    for (let at = wordAt(compared, term); at >= 0; at = wordAt(compared, term, at + 1))
      places.push([compared.inText(at), compared.inText(at + term.length)])
    return places
  })
}

/** The terms that stand in the text as words. */
export const wordsAmong = (text: string, terms: string[]): string[] => {
  const compared = comparedForm(text, terms)
  return terms.filter((term) => wordAt(compared, term) >= 0)
}

export interface Found {
  term: string
  place: number
  /** Whether it stands there as a word. */
  word: boolean
}

/** The first of the terms that the text has as a word, or at least within another. They come rarest first, since the rarest is what was most
 *  likely looked for. */
export const firstFound = (text: string, terms: string[]): Found | undefined => {
  const compared = comparedForm(text, terms)
  for (const word of [true, false])
    for (const term of terms) {
      const at = word ? wordAt(compared, term) : compared.lower.indexOf(term)
      if (at >= 0) return { term, place: compared.inText(at), word }
    }
  return undefined
}

interface Compared {
  cased: string
  lower: string
  inText: (place: number) => number
  /** At how many places a term is looked at until it stands as a word. */
  most: number
}

const comparedForm = (text: string, terms: string[]): Compared => {
  const cased = inNfkc(text)
  const same = cased === text
  const inText = (place: number) => (same ? place : placeInText(text, place))
  return { cased, lower: cased.toLowerCase(), inText, most: MOST_PLACES / terms.length }
}

const wordAt = ({ cased, lower, most }: Compared, term: string, from = 0): number => {
  let at = lower.indexOf(term, from)
  for (let left = most; at >= 0 && left > 0; left--) {
    if (isEdge(cased, at) && isEdge(cased, at + term.length)) return at
    at = lower.indexOf(term, at + 1)
  }
  return -1
}

// A word begins or ends here, or a part of one (userName, TS2345). In scripts without spaces, and in Korean, every place is an edge.
const EDGE =
  /^(?:[^\p{L}\p{N}\p{M}]|.[^\p{L}\p{N}\p{M}]|[\p{Ll}\p{N}]\p{Lu}|\p{Lu}{2}\p{Ll}|\p{L}\p{N}|\p{N}\p{L}|.?[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Hangul}])/u

const isEdge = (text: string, at: number) => at === 0 || at >= text.length || EDGE.test(text.slice(at - 1, at + 2))
