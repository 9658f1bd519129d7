// Decides whether a conversation goes in circles: from its last posts, by who spoke and how alike the texts are. Speed counts for nothing.
// bench/loop.ts measures how many storms it finds and how many honest conversations it mistakes for one.

export interface LoopPost {
  by: string | undefined // a team's handle; undefined: a person
  text: string
}

export interface LoopRule {
  /** How many of the last posts must repeat what their teams have said before. */
  posts: number
  /** Two texts count as the same from this likeness on, from 0 to 1. */
  likeness: number
}

/** What two texts are compared by: a bounded sample of their shingles, and their numbers. */
export interface Sketch {
  shingles: readonly number[] // ascending
  numbers: string
}

type Repetition = 'same' | 'renumbered' | undefined

const OWN_KEPT = 4 // texts of each team: a circle of more texts is not found
const PATIENCE = 4 // texts that differ only in their numbers may be progress: for them, this many times the posts must repeat
const STEADY = 0.9 // share of the posts that must repeat: one other post in between does not hide a storm
const SHINGLE = 4 // characters
const SAMPLE = 128 // shingles kept of a text: exact for texts with fewer, else a likeness of 0.9 is estimated to 0.02
const HALF_READ = 2_000 // characters: of a long text only so many at its beginning and at its end are compared

/** How many of the last posts `isLoop` needs. */
export const lookback = ({ posts }: LoopRule) => posts * PATIENCE + 16

/** Whether at least two teams take turns, and nearly all of their posts repeat earlier ones. `posts`: the oldest first. */
export const isLoop = (posts: LoopPost[], rule: LoopRule): boolean => {
  const person = posts.findLastIndex(({ by }) => by === undefined)
  const recent = posts.slice(person + 1)
  if (recent.length <= rule.posts) return false
  const teams = recent.map(({ by }) => by!)
  // Whether teams take turns is cheap to find out and excludes most conversations: only then are texts compared.
  const takesTurns = (length: number, turns: number) => teams.length >= length && switches(teams.slice(-length)) >= (length - 1) * turns
  const long = rule.posts * PATIENCE
  const [short, patient] = [takesTurns(rule.posts, 1 / 3), takesTurns(long, STEADY)]
  if (!short && !patient) return false
  const repetitions = repetitionsIn(recent, rule.likeness)
  const repeats = (length: number, counts: (repetition: Repetition) => boolean) =>
    repetitions.slice(-length).filter(counts).length >= length * STEADY
  return (
    (short && repeats(rule.posts, (repetition) => repetition === 'same')) ||
    (patient && repeats(long, (repetition) => repetition !== undefined))
  )
}

/** Whether a text repeats one of its team's earlier ones: as it was ('same'), or with other numbers ('renumbered'). */
export const repetitionOf = (text: Sketch, own: readonly Sketch[], likeness: number): Repetition => {
  const alike = own.filter((before) => likenessOf(text, before) >= likeness)
  return alike.length === 0 ? undefined : alike.some(({ numbers }) => numbers === text.numbers) ? 'same' : 'renumbered'
}

/** Each team's last sketches, oldest first. */
export const ownSketches = (posts: LoopPost[]): Map<string, Sketch[]> => {
  const own = new Map<string, Sketch[]>()
  for (const { by, text } of posts) if (by) own.set(by, [...(own.get(by) ?? []), sketchOf(text)].slice(-OWN_KEPT))
  return own
}

const repetitionsIn = (posts: LoopPost[], likeness: number): Repetition[] => {
  const own = new Map<string, Sketch[]>()
  return posts.map(({ by, text }) => {
    const [sketch, before] = [sketchOf(text), own.get(by!) ?? []]
    own.set(by!, [...before, sketch].slice(-OWN_KEPT))
    return repetitionOf(sketch, before, likeness)
  })
}

const switches = (teams: string[]) => teams.filter((team, i) => i > 0 && team !== teams[i - 1]).length

export const sketchOf = (text: string): Sketch => {
  const part = text.length > 2 * HALF_READ ? `${text.slice(0, HALF_READ)} ${text.slice(-HALF_READ)}` : text
  const plain = part
    .normalize('NFKC')
    .slice(0, 2 * HALF_READ + 1) // which may make eighteen characters of one
    .toLowerCase()
    .replace(/\d{4}-\d\d-\d\d[t ]?|\d{1,2}:\d\d(:\d\d)?(\.\d+)?z?/g, '') // dates and times of day change by themselves
    .replace(/[\s\p{P}]+/gu, ' ')
    .trim()
  const numbers = plain.match(/\d+/g)?.join(' ') ?? ''
  return { shingles: sampled(plain.replace(/\d+/g, '0')), numbers }
}

// Bottom-k sampling: where two texts are alike, their smallest hashes are the same.
const sampled = (text: string): number[] => {
  const hashes = new Set<number>()
  for (let i = 0; i === 0 || i + SHINGLE <= text.length; i++) hashes.add(hashed(text, i, i + SHINGLE))
  return [...Float64Array.from(hashes).sort().subarray(0, SAMPLE)]
}

// FNV-1a, 32 bits, mixed once more at the end.
const hashed = (text: string, from: number, to: number): number => {
  let hash = 0x811c9dc5
  for (let i = from; i < Math.min(to, text.length); i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b)
  return (hash ^ (hash >>> 16)) >>> 0
}

// Dice's coefficient, estimated from the share of the smallest hashes of either text that are in both.
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
