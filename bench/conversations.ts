// Conversations made from a seed: storms that the loop guard should find, and honest ones that it should not. For bench/loop.ts and tests.
import type { LoopPost } from '../src/loops/detector.ts'

export type Random = () => number

/** mulberry32: small, and the same everywhere. */
export const randomFrom = (seed: number): Random => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

const WORDS =
  'parser lexer token buffer cache index retry cursor session schema query column merge branch commit deploy cluster replica timeout socket header payload stream reader writer worker queue lock thread memory leak trace metric alert budget limit window batch cursor offset snapshot restore migrate rollback feature flag test fixture mock assert snapshot coverage review comment patch release version changelog client server proxy gateway route handler guard cookie secret token hash salt signature'.split(
    ' ',
  )
const VERBS =
  'fixes breaks needs blocks drops keeps holds returns rejects retries splits merges moves renames measures checks covers explains replaces removes'.split(
    ' ',
  )
const GLUE = ['the', 'a', 'our', 'their', 'this', 'every', 'no', 'one more']
const ACKS = ['ok', 'done', 'thanks', '+1', 'on it', 'agreed', 'good', 'sounds right', 'merged', '👍']

const one = <Item>(random: Random, items: readonly Item[]): Item => items[Math.floor(random() * items.length)]!
const whole = (random: Random, from: number, to: number) => from + Math.floor(random() * (to - from + 1))
const clause = (random: Random) =>
  [one(random, GLUE), one(random, WORDS), one(random, VERBS), one(random, GLUE), one(random, WORDS)].join(' ')
const sentence = (random: Random, clauses = whole(random, 1, 4)) => `${Array.from({ length: clauses }, () => clause(random)).join(', ')}.`
const times = <Item>(length: number, make: (i: number) => Item): Item[] => Array.from({ length }, (_, i) => make(i))
const teams = (n: number) => times(n, (i) => `team-${i}`)
const clockTime = (i: number) => `${String(9 + Math.floor(i / 60)).padStart(2, '0')}:${String(i % 60).padStart(2, '0')}`

// The same text as a model would repeat it: a word more or less, or another mark at the end.
const again = (random: Random, text: string): string => {
  const variant = whole(random, 0, 3)
  return variant === 0 ? text : variant === 1 ? text.replace(/\.$/, '!') : variant === 2 ? `${text} Thanks.` : text.replace(', ', ' and ')
}

const storm = (random: Random, cast: string[], posts: number, say: (by: number, i: number) => string): LoopPost[] =>
  times(posts, (i) => ({ by: cast[i % cast.length]!, text: say(i % cast.length, i) }))

/** Each begins with ten honest posts, so that the storm does not begin the conversation. */
export const STORMS: Record<string, (random: Random) => LoopPost[]> = {
  'A→B→A, word for word': (random) => {
    const lines = teams(2).map(() => sentence(random))
    return [...debate(random, 2, 10), ...storm(random, teams(2), 60, (by) => lines[by]!)]
  },
  'A→B→A, nearly word for word': (random) => {
    const lines = teams(2).map(() => sentence(random, 8))
    return [...debate(random, 2, 10), ...storm(random, teams(2), 60, (by) => again(random, lines[by]!))]
  },
  'A→B→C→A': (random) => {
    const lines = teams(3).map(() => sentence(random, 6))
    return [...debate(random, 3, 10), ...storm(random, teams(3), 60, (by) => again(random, lines[by]!))]
  },
  'five teams in a ring': (random) => {
    const lines = teams(5).map(() => sentence(random))
    return [...debate(random, 5, 10), ...storm(random, teams(5), 80, (by) => lines[by]!)]
  },
  'echo: both say the same': (random) => {
    const line = sentence(random)
    return [...debate(random, 2, 10), ...storm(random, teams(2), 60, () => line)]
  },
  'thanks, you are welcome': (random) => [
    ...debate(random, 2, 10),
    ...storm(random, teams(2), 60, (by) => ['Thank you, standing by.', "You're welcome! Let me know."][by]!),
  ],
  'with the time of day': (random) => {
    const lines = teams(2).map(() => sentence(random))
    return [...debate(random, 2, 10), ...storm(random, teams(2), 60, (by, i) => `[${clockTime(i)}] ${lines[by]}`)]
  },
  'with a counter': (random) => {
    const lines = teams(2).map(() => sentence(random))
    return [...debate(random, 2, 10), ...storm(random, teams(2), 120, (by, i) => `Attempt ${Math.floor(i / 2)}: ${lines[by]}`)]
  },
  'two posts a turn': (random) => {
    const lines = times(4, () => sentence(random))
    return [...debate(random, 2, 10), ...times(80, (i) => ({ by: `team-${Math.floor(i / 2) % 2}`, text: lines[i % 4]! }))]
  },
  'a circle of three texts each': (random) => {
    const lines = times(6, () => sentence(random))
    return [...debate(random, 2, 10), ...storm(random, teams(2), 80, (by, i) => lines[(Math.floor(i / 2) % 3) * 2 + by]!)]
  },
  'a third team speaks in between': (random) => {
    const lines = teams(2).map(() => sentence(random))
    const posts = storm(random, teams(2), 80, (by) => lines[by]!)
    return [
      ...debate(random, 3, 10),
      ...posts.flatMap((post, i) => (i % 14 === 13 ? [post, { by: 'team-2', text: sentence(random) }] : [post])),
    ]
  },
}

const debate = (random: Random, cast: number, posts: number): LoopPost[] =>
  times(posts, () => ({ by: one(random, teams(cast)), text: random() < 0.25 ? one(random, ACKS) : sentence(random) }))

const FILES = times(400, (i) => `src/${WORDS[i % WORDS.length]}/${WORDS[(i * 7) % WORDS.length]}-${i}.ts`)

export const HONEST: Record<string, (random: Random) => LoopPost[]> = {
  'lively: 500 posts in ten minutes': (random) => debate(random, whole(random, 2, 5), 500),
  'terse: half of it is ok, done, thanks': (random) =>
    times(500, () => ({ by: one(random, teams(3)), text: random() < 0.5 ? one(random, ACKS) : sentence(random, 1) })),
  'one assigns, two say ok and done': (random) =>
    times(125, (i) => [
      { by: 'team-0', text: `Take ${FILES[i]}: ${sentence(random, 1)}` },
      { by: 'team-1', text: 'ok' },
      { by: 'team-1', text: 'done' },
      { by: 'team-2', text: one(random, ACKS) },
    ]).flat(),
  'questions and answers in turn': (random) =>
    times(250, (i) => [
      { by: 'team-0', text: `What does ${FILES[i % 400]} do?` },
      { by: 'team-1', text: `It ${one(random, VERBS)} ${clause(random)}.` },
    ]).flat(),
  'a machine, 100 different posts a second': (random) =>
    times(1_000, (i) => ({ by: 'team-0', text: `step ${i}: ${one(random, FILES)} took ${whole(random, 1, 900)} ms` })),
  'two machines at once, only figures differ': (random) => {
    const done = [0, 0]
    return times(1_000, () => {
      const by = whole(random, 0, 1)
      return { by: `team-${by}`, text: `worker ${by}: ${++done[by]!} of 20000 orders processed, 0 errors` }
    })
  },
  'one heartbeat, always the same': () => times(500, () => ({ by: 'team-0', text: 'still alive, nothing to report' })),
  'a heartbeat beside a debate': (random) =>
    debate(random, 3, 400).flatMap((post, i) => (i % 3 === 0 ? [post, { by: 'team-9', text: 'still alive, nothing to report' }] : [post])),
  'status in a form, in turn': (random) =>
    times(400, (i) => ({
      by: `team-${i % 3}`,
      text: `**File:** ${FILES[i]}\n**Result:** ${one(random, ['passed', 'failed', 'skipped'])}\n**Note:** ${sentence(random, 1)}`,
    })),
  'everybody votes +1': (random) => [...debate(random, 8, 40), ...teams(14).map((by) => ({ by, text: '+1' })), ...debate(random, 8, 40)],
  'reviews: LGTM and a file': (random) =>
    times(300, (i) => ({ by: `team-${i % 2}`, text: random() < 0.7 ? `LGTM: ${FILES[i]}` : sentence(random, 1) })),
}

/** What a comparison of texts cannot tell: the first is honest, the second is a storm. */
export const LIMITS: Record<string, (random: Random) => LoopPost[]> = {
  'two machines in lockstep, only figures differ': () =>
    times(400, (i) => ({ by: `team-${i % 2}`, text: `worker: batch ${i} of 20000 is written, 0 errors` })),
  'a storm in other words each time': (random) =>
    times(400, (i) => ({ by: `team-${i % 2}`, text: `Waiting for you. ${sentence(random)}` })),
}
