// The part of a text that a search found it by.
import { excerpt } from '../../core/events/event-text.ts'

const TOGETHER = 6 // words: hits so near to one another count together

/** A line of at most 300 characters around the words that are most like those of the query. A text without any begins it. */
export const excerptAround = (text: string, query: string): string => {
  const asked = trigramsOf(query)
  const words = [...text.matchAll(/\S+/g)].map(({ 0: word, index }) => ({ index, alike: likeness(word, asked) }))
  let [best, place] = [0, 0]
  for (const [i, { index, alike }] of words.entries()) {
    if (alike === 0) continue
    const sum = words.slice(i, i + TOGETHER).reduce((total, word) => total + word.alike, 0)
    if (sum > best) [best, place] = [sum, index]
  }
  return excerpt(text, best > 0 ? [text.slice(place, place + 80).toLowerCase()] : []).text
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
