// Turns a text into the terms it is found by. The index and every query use it, and so always agree.
import { utf8Bytes } from '../core/text/text.ts'

export const LONGEST_TERM = 100 // characters; longer ones are blobs, or paths, which are found by their parts
const MOST_BYTES = 256 * 1024 // of the different terms of one event: a tsvector holds 1 MiB, positions included
export const MOST_COUNTED = 255 // occurrences of a term in one event, or in one session's texts: a tsvector holds no more positions
export const HEAD = 96 * 1024 // characters that are read of a text, from its beginning …
export const TAIL = 32 * 1024 // … and from its end, where a log has its error

// A run of words and what joins them in paths, identifiers, addresses and versions.
const RUN = /[\p{L}\p{N}\p{M}_]+(?:[-./\\:@#]+[\p{L}\p{N}\p{M}_]+)*/gu
const SEGMENTS = /[/\\:@#]+/
const WORDS = /[-._]+|(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u
const CODE = /^(\p{L}+)(\p{N}+)$/u // TS2345, E0308
// With what several scripts share, such as the ー of サーバー.
const unspaced = String.raw`\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}`
const hangul = String.raw`\p{Script=Hangul}`
const UNSPACED = new RegExp(`[${unspaced}]`, 'v')
// Korean has spaces, but none between a name and its particle (React를), nor between a noun and its particle (서버를): its words have pairs too.
const UNSPACED_OR_HANGUL = new RegExp(`[${unspaced}${hangul}]`, 'v')
// A number belongs to the script around it (3月, 2024年), and has terms of its own all the same.
const NUMBER = /\p{Nd}{2,}/gu
const DOTTED_NUMBER = /\p{Nd}+(?:\.\p{Nd}+)+/gu
const edgesOf = (script: string) => {
  const other = String.raw`[\p{L}--[${script}]]`
  return String.raw`(?<=[${script}])(?=\p{N}*${other})|(?=[${script}])(?<=${other}\p{N}*(?:\.\p{N}+)*)`
}
const EDGES = new RegExp(`${edgesOf(unspaced)}|${edgesOf(hangul)}`, 'v')
const LETTERS = /^[a-z]+$/ // nearly all words, which need no splitting
const PLAIN = /^[a-z0-9]+$/
const DIGITS = /^\p{Nd}+$/u

/** How often each term is in a text: words in lower case; a path, identifier or code whole and by its parts. The terms that have parts are
 *  added to `wholes`. */
export const termsOf = (text: string, wholes?: Set<string>): Map<string, number> => {
  const counts = new Map<string, number>()
  let left = MOST_BYTES
  const add = (term: string, whole = false) => {
    if (term === '' || term.length > LONGEST_TERM) return
    if (whole) wholes?.add(term)
    const count = counts.get(term)
    if (count !== undefined) counts.set(term, Math.min(count + 1, MOST_COUNTED))
    else if ((left -= utf8Bytes(term)) >= 0) counts.set(term, 1)
  }
  const plain = shortened(text)
    .normalize('NFKC')
    .slice(0, HEAD + TAIL + 1) // which may make eighteen characters of one
  for (const run of plain.match(RUN) ?? []) addRun(run, add)
  return counts
}

const shortened = (text: string) => (text.length > HEAD + TAIL ? `${text.slice(0, HEAD)} ${text.slice(-TAIL)}` : text)

type Add = (term: string, whole?: boolean) => void

const addRun = (run: string, add: Add) => {
  if (LETTERS.test(run)) add(run)
  else if (PLAIN.test(run)) addWord(run, add)
  else if (UNSPACED_OR_HANGUL.test(run)) for (const part of run.split(EDGES)) addPath(part, add)
  else addPath(run, add)
}

const addPath = (path: string, add: Add) => {
  if (SEGMENTS.test(path)) add(path.toLowerCase().replaceAll('\\', '/'), true)
  for (const segment of path.split(SEGMENTS)) addSegment(segment, add)
}

// `bar.test.ts`, `user_name`, `userName`: whole and word by word. Of `userName.ts` and `Account.userName` also the step `userName`.
const addSegment = (segment: string, add: Add) => {
  const words = wordsOf(segment)
  if (words.length > 1) add(segment.toLowerCase(), true)
  if (segment.includes('.')) for (const step of segment.split('.')) if (wordsOf(step).length > 1) add(step.toLowerCase(), true)
  if (words.length > 1 && UNSPACED_OR_HANGUL.test(segment)) for (const number of numbersIn(segment, DOTTED_NUMBER)) add(number, true)
  for (const word of words) addWord(word.toLowerCase(), add)
}

const wordsOf = (name: string) => name.split(WORDS).filter(Boolean)

const addWord = (word: string, add: Add) => {
  if (UNSPACED.test(word)) return addPairs(word, add)
  const [, letters, digits] = CODE.exec(word) ?? []
  const joined = word.length > 2 && UNSPACED_OR_HANGUL.test(word)
  add(word, digits !== undefined || joined)
  if (letters && digits) {
    addWord(letters, add)
    add(digits)
  } else if (joined) addPairs(word, add)
}

const numbersIn = (text: string, form: RegExp): string[] => text.match(form) ?? []

// Every two neighbouring characters are a term, but digits, whose number is one.
const addPairs = (word: string, add: Add) => {
  const characters = [...word]
  if (characters.length === 1) add(word)
  for (let i = 0; i + 1 < characters.length; i++) {
    const pair = characters[i]! + characters[i + 1]!
    if (!DIGITS.test(pair)) add(pair)
  }
  for (const number of numbersIn(word, NUMBER)) add(number)
}

/** BM25's k1 (term-frequency saturation) and b (length normalisation). */
export const K1 = 1.2
export const B = 0.75

// How an event is stored that says "panic in the lexer: panic", five terms long:
//   tsv      'panic':1,2 'in':1 'the':1 'lexer':1    as many positions as the term has occurrences
//   hot      '3panic' '1in' '1the' '1lexer'          the level before the term: "panic" has 2 / (2 + 0.33) = 0.86 of its greatest weight
//   levels   panic 3, in 1, the 1, lexer 1           added up in `search_terms`: how many events have the term at each level
// A search for a common term then reads the events of '4panic', and of '3panic' if these are few (search/candidates.ts).

// A term's weight in an event, as a share of its greatest weight: each level begins at one of these. Below the first, the term is in `tsv` alone.
export const LEVELS = [0.62, 0.7, 0.77, 0.83, 0.88]
// The average length for which levels are computed. Scores use the true average; levels only choose the candidates.
const USUAL_LENGTH = 150

export interface Indexed {
  length: number
  tsv: string
  hot: string
  /** The level of each term that has one. */
  levels: Map<string, number>
}

/** An event's terms as Postgres' tsvectors: `tsv` with counts as positions, `hot` with the level before each weighty term. */
export const indexed = (counts: Map<string, number>): Indexed => {
  let length = 0
  for (const count of counts.values()) length += count
  const slowdown = K1 * (1 - B + (B * length) / USUAL_LENGTH)
  const levels = new Map<string, number>()
  let tsv = ''
  let hot = ''
  for (const [term, count] of counts) {
    tsv += `${quoted(term)}:${positions(count)} `
    const level = LEVELS.findLastIndex((least) => count / (count + slowdown) >= least)
    if (level < 0) continue
    levels.set(term, level)
    hot += `${atLevel(term, level)} `
  }
  return { length, tsv, hot, levels }
}

/** A term as tsvector and tsquery read it. */
export const quoted = (term: string) => `'${term}'`
export const atLevel = (term: string, level: number) => quoted(`${level}${term}`)

const POSITIONS = Array.from({ length: MOST_COUNTED }, (_, i) => Array.from({ length: i + 1 }, (_, n) => n + 1).join(','))
const positions = (count: number) => POSITIONS[count - 1]!
