// Does a conversation go in circles? Decided from the last posts, only by who spoke and how alike the texts are: how fast it goes
// tells nothing. bench/loop.ts has the rates.

export interface Said {
  by: string | undefined // the team; undefined: a person
  text: string
}

export interface LoopRule {
  /** How many posts must repeat what their teams have said before. */
  posts: number
  /** From 0 to 1: how alike two texts are that count as the same. */
  likeness: number
}

/** What is left of a text to compare it by: a bounded sample of its shingles, with its numbers apart. */
export interface Sketch {
  shingles: readonly number[] // ascending
  numbers: string
}

type Repeat = 'same' | 'renumbered' | undefined

const OWN_BEFORE = 4 // a team may go round a circle of as many texts
const PATIENCE = 4 // texts that differ in their numbers alone may be progress: it takes this many times the posts
const STEADY = 0.9 // this share of the stretch must repeat: one post in between does not hide a storm
const SHINGLE = 4 // characters
const SAMPLE = 128 // shingles kept of a text: a likeness of 0.9 is estimated to 0.02, and exact below 128
const HALF_READ = 2_000 // characters from the beginning and from the end of a long text

/** How many posts to look at. */
export const lookback = ({ posts }: LoopRule) => posts * PATIENCE + 16

/** `said`: oldest first. At least two teams take turns, and nearly all that they say they have said before. */
export const isLoop = (said: Said[], rule: LoopRule): boolean => {
  const person = said.findLastIndex(({ by }) => by === undefined)
  const recent = said.slice(person + 1)
  if (recent.length <= rule.posts) return false
  const teams = recent.map(({ by }) => by!)
  // Who spoke is cheap to see, and excludes most: only where teams take turns are their texts compared.
  const takesTurns = (length: number, turns: number) => teams.length >= length && switches(teams.slice(-length)) >= (length - 1) * turns
  const long = rule.posts * PATIENCE
  const [short, patient] = [takesTurns(rule.posts, 1 / 3), takesTurns(long, STEADY)]
  if (!short && !patient) return false
  const repeats = repeatsIn(recent, rule.likeness)
  const circles = (length: number, counts: (repeat: Repeat) => boolean) => repeats.slice(-length).filter(counts).length >= length * STEADY
  return (short && circles(rule.posts, (repeat) => repeat === 'same')) || (patient && circles(long, (repeat) => repeat !== undefined))
}

/** Has this team said this before, among its own last posts? */
export const repeatOf = (text: Sketch, own: readonly Sketch[], likeness: number): Repeat => {
  const alike = own.filter((before) => likenessOf(text, before) >= likeness)
  return alike.length === 0 ? undefined : alike.some(({ numbers }) => numbers === text.numbers) ? 'same' : 'renumbered'
}

/** Each team's last sketches, oldest first. */
export const ownSketches = (said: Said[]): Map<string, Sketch[]> => {
  const own = new Map<string, Sketch[]>()
  for (const { by, text } of said) if (by) own.set(by, [...(own.get(by) ?? []), sketchOf(text)].slice(-OWN_BEFORE))
  return own
}

const repeatsIn = (said: Said[], likeness: number): Repeat[] => {
  const own = new Map<string, Sketch[]>()
  return said.map(({ by, text }) => {
    const [sketch, before] = [sketchOf(text), own.get(by!) ?? []]
    own.set(by!, [...before, sketch].slice(-OWN_BEFORE))
    return repeatOf(sketch, before, likeness)
  })
}

const switches = (teams: string[]) => teams.filter((team, i) => i > 0 && team !== teams[i - 1]).length

export const sketchOf = (text: string): Sketch => {
  const part = text.length > 2 * HALF_READ ? `${text.slice(0, HALF_READ)} ${text.slice(-HALF_READ)}` : text
  const plain = part
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\d{4}-\d\d-\d\d[t ]?|\d{1,2}:\d\d(:\d\d)?(\.\d+)?z?/g, '') // the hour changes by itself
    .replace(/[\s\p{P}]+/gu, ' ')
    .trim()
  const numbers = plain.match(/\d+/g)?.join(' ') ?? ''
  return { shingles: sampled(plain.replace(/\d+/g, '0')), numbers }
}

// The smallest hashes are the same sample of two texts wherever they are alike (bottom-k).
const sampled = (text: string): number[] => {
  const hashes = new Set<number>()
  for (let i = 0; i === 0 || i + SHINGLE <= text.length; i++) hashes.add(hashed(text, i, i + SHINGLE))
  return [...Float64Array.from(hashes).sort().subarray(0, SAMPLE)]
}

// FNV-1a with a last stir, 32 bits.
const hashed = (text: string, from: number, to: number): number => {
  let hash = 0x811c9dc5
  for (let i = from; i < Math.min(to, text.length); i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b)
  return (hash ^ (hash >>> 16)) >>> 0
}

// Dice's coefficient, from the share that both have of the smallest hashes of either.
const likenessOf = (a: Sketch, b: Sketch): number => {
  let [i, j, both, seen] = [0, 0, 0, 0]
  const [left, right] = [a.shingles, b.shingles]
  const most = Math.max(left.length, right.length) === SAMPLE ? SAMPLE : left.length + right.length
  for (; seen < most && (i < left.length || j < right.length); seen++) {
    const [x, y] = [left[i] ?? Infinity, right[j] ?? Infinity]
    if (x === y) both++
    if (x <= y) i++
    if (y <= x) j++
  }
  const jaccard = both / seen
  return (2 * jaccard) / (1 + jaccard)
}
