// The part of a text that a search found it by.
import { excerptAt } from '../../core/events/event-text.ts'
import { wordsOf } from '../../stores/records/words.ts'

const TOGETHER = 6 // words: hits so near to one another count together
const NEAR = 80 // characters, likewise
const MOST_WORDS = 5 // of the query, the longest

/** A line of at most 300 characters around the longest word of the query, else around the words that are most like it. A text without any
 *  begins it. */
export const excerptAround = (text: string, query: string): string => {
  const words = wordsOf(query.toLowerCase()).slice(0, MOST_WORDS)
  const place = placeOf(words.slice(0, 1), text, words) ?? placeAlike(text, query) ?? placeOf(words, text, words) ?? 0
  return excerptAt(text, place).text
}

// Where the first of these words stands that the text has, in whatever word, and most of the others near it.
const placeOf = (wanted: string[], text: string, words: string[]): number | undefined => {
  const lower = text.toLowerCase()
  const word = wanted.find((one) => lower.includes(one))
  if (word === undefined) return undefined
  let [best, place] = [-1, 0]
  for (let at = lower.indexOf(word); at >= 0; at = lower.indexOf(word, at + word.length)) {
    const around = lower.slice(Math.max(0, at - NEAR), at + NEAR)
    const near = words.filter((other) => around.includes(other)).length
    if (near > best) [best, place] = [near, at]
  }
  return place
}

const placeAlike = (text: string, query: string): number | undefined => {
  const asked = trigramsOf(query)
  const words = [...text.matchAll(/\S+/g)].map(({ 0: word, index }) => ({ index, alike: likeness(word, asked) }))
  let [best, place] = [0, 0]
  for (const [i, { index, alike }] of words.entries()) {
    if (alike === 0) continue
    const sum = words.slice(i, i + TOGETHER).reduce((total, word) => total + word.alike, 0)
    if (sum > best) [best, place] = [sum, index]
  }
  return best > 0 ? place : undefined
}

// A word counts only if at least half of its trigrams are the query's.
const likeness = (word: string, asked: ReadonlySet<string>): number => {
  const own = trigramsOf(word)
  const shared = [...own].filter((trigram) => asked.has(trigram)).length
  return shared * 2 >= own.size ? shared : 0
}

const trigramsOf = (text: string): ReadonlySet<string> => {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  return new Set(words.flatMap((word) => Array.from({ length: word.length + 1 }, (_, i) => `  ${word} `.slice(i, i + 3))))
}
