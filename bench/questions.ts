// The questions that bench/search.ts asks, in classes, made from the corpus that is searched.
import { SEARCHED_BY_DEFAULT } from '../src/core/events/event-types.ts'
import { termsOf } from '../src/search/tokenizer.ts'
import { random } from '../tests/support/random.ts'
import { history } from './corpus.ts'

export interface Truth {
  events: number // that have each term
  average: number
  frequency: Map<string, number>
}

export interface Sample {
  terms: string[]
}

export type Classes = Map<string, string[]>

const SAMPLES = 1_000

/** Questions of each class, `count` of them, with terms of these events. `misspelt`: also of words and paths that nobody wrote, for which
 *  there is no right answer to compare with. */
export const classes = (samples: Sample[], { frequency, events }: Truth, count: number, misspelt = false): Classes => {
  const rnd = random(5)
  const share = (term: string) => (frequency.get(term) ?? 0) / events
  const is = {
    rare: (term: string) => /^[a-z]+$/.test(term) && share(term) < 0.0003,
    mid: (term: string) => /^[a-z]+$/.test(term) && share(term) >= 0.0003 && share(term) < 0.02,
    common: (term: string) => /^[a-z]+$/.test(term) && share(term) >= 0.02 && share(term) < 0.25,
    everywhere: (term: string) => /^[a-z]+$/.test(term) && share(term) >= 0.25,
    code: (term: string) => /[_/]/.test(term),
    path: (term: string) => term.includes('/'),
  }
  type Is = keyof typeof is
  const shuffled = <Item>(items: Item[]) =>
    items
      .map((item) => [rnd(), item] as const)
      .sort(([a], [b]) => a - b)
      .map(([, item]) => item)
  const made: Classes = new Map()
  const add = (name: string, wanted: Is[], written = (query: string) => query) => {
    const queries: string[] = []
    for (const { terms } of shuffled(samples)) {
      if (queries.length === count) break
      const left = shuffled(terms)
      const chosen = wanted
        .map((kind) => left.splice(left.findIndex(is[kind]), 1)[0])
        .filter((term, i) => term !== undefined && is[wanted[i]!](term))
      if (chosen.length === wanted.length) queries.push(written(chosen.join(' ')))
    }
    made.set(name, queries)
  }
  add('a rare word', ['rare'])
  add('a word', ['mid'])
  add('a common word', ['common'])
  add('two words', ['mid', 'mid'])
  add('two common words', ['common', 'common'])
  add('three common words', ['common', 'common', 'common'])
  add('five common words', ['common', 'common', 'common', 'common', 'common'])
  add('words of every text', ['everywhere', 'everywhere', 'everywhere', 'everywhere'])
  add('a word and two common', ['mid', 'common', 'common'])
  add('rare, two words, two common', ['rare', 'mid', 'mid', 'common', 'common'])
  add('a path or identifier', ['code'])
  add('the same, a word, a common one', ['code', 'mid', 'common'])
  if (!misspelt) return made
  add('three words', ['mid', 'mid', 'mid'])
  add('a path', ['path'])
  add('a path that nobody wrote', ['path'], (path) => path.replace(/(\w)\.(\w+)$/, '$1qx7.$2'))
  add('a word with a typo', ['mid'], (word) => `${word.slice(0, 2)}q${word.slice(2)}`)
  return made
}

export const firstWords = (text: string, words: number) => (words === Infinity ? text : text.split(' ', words).join(' '))

/** What the first `events` events of a corpus hold: enough to tell rare words from common ones. */
export const sampled = (size: number, events: number, words = Infinity): { truth: Truth; samples: Sample[] } => {
  const frequency = new Map<string, number>()
  const samples: Sample[] = []
  let [n, length] = [0, 0]
  for (const { type, text } of history(size)) {
    if (n === events) break
    const terms = termsOf(firstWords(text, words))
    for (const [term, count] of terms) {
      length += count
      frequency.set(term, (frequency.get(term) ?? 0) + 1)
    }
    if (n++ % Math.ceil(events / SAMPLES) === 0 && SEARCHED_BY_DEFAULT.includes(type as never)) samples.push({ terms: [...terms.keys()] })
  }
  return { truth: { events: n, average: length / n, frequency }, samples }
}
