// A made-up history of agents' work, the same for the same size: words by Zipf's law, a subject for each session, paths, identifiers and
// error messages, short prompts and long tool outputs. Needles are planted in it. Nothing here comes from real transcripts.
import { random } from '../tests/support/random.ts'

export interface Made {
  session: number
  sequence: number
  turn: number
  ordinal: number
  type: string
  tool: string | null
  terminal: boolean
  text: string
}

export interface Needle {
  kind: 'path' | 'identifier' | 'error code'
  whole: string
  parts: string
  typo: string
  at: number // the how-manieth event holds it
}

const NEEDLES = 60
const STOP =
  'the of to and a in is it for on that this with as be are was by at or an not from i we you if has have will can do but so'.split(' ')
const COMMON =
  'error file test session agent message run code function build server tool type fix commit branch merge deploy config cache query index table row search user token request response timeout retry data value list update create delete check log debug import export module package version release install path class method object string number array null undefined return async await promise event stream client worker thread process memory cpu disk network socket port host'.split(
    ' ',
  )
const ERRORS = [
  'TypeError: Cannot read properties of undefined',
  'ECONNREFUSED connect refused',
  'error TS2345 argument not assignable',
  'panicked at index out of bounds',
  'permission denied',
  'ENOENT no such file or directory',
  'assertion failed left right',
  'duplicate key value violates unique constraint',
  'segmentation fault core dumped',
]
const TYPES = [
  ['assistant_response', 25, 20, 250],
  ['tool_call', 20, 5, 30],
  ['tool_response', 45, 10, 500],
  ['reasoning', 10, 20, 150],
] as const

const vocabulary = (size: number) => {
  const rnd = random(1)
  const pick = (from: string[]) => from[Math.floor(rnd() * from.length)]!
  const onsets = 'b c d f g h j k l m n p r s t v w br cr dr fl gr pl pr st th tr ch'.split(' ')
  const vowels = 'a e i o u ai ea ou'.split(' ')
  const codas = ['', '', 'n', 'r', 's', 't', 'l', 'm', 'nd', 'st']
  const words = new Set([...STOP, ...COMMON])
  while (words.size < size) {
    const syllables = (words.size < 5_000 ? 1 : 2) + Math.floor(rnd() * 2)
    words.add(Array.from({ length: syllables }, () => pick(onsets) + pick(vowels) + (rnd() < 0.4 ? pick(codas) : '')).join(''))
  }
  return [...words]
}

// A table to draw from, so that a draw takes one lookup.
const zipf = (size: number, slope: number) => {
  const weights = Array.from({ length: size }, (_, i) => 1 / (i + 2.7) ** slope)
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  const table = new Int32Array(1 << 20)
  let [reached, at] = [0, 0]
  for (let i = 0; i < table.length; i++) {
    while (at < size - 1 && (reached + weights[at]!) / total < (i + 0.5) / table.length) reached += weights[at++]!
    table[i] = at
  }
  return (draw: number) => table[Math.floor(draw * table.length)]!
}

const WORDS = vocabulary(120_000)
const wordAt = zipf(WORDS.length, 1.02)
const things = (() => {
  const rnd = random(2)
  const word = (upTo: number) => WORDS[100 + Math.floor(rnd() * upTo)]!
  const capital = (text: string) => text[0]!.toUpperCase() + text.slice(1)
  const extension = () => ['ts', 'tsx', 'rs', 'py', 'go', 'md', 'json', 'sql'][Math.floor(rnd() * 8)]
  const folder = () => ['src', 'lib', 'app', 'tests', 'packages'][Math.floor(rnd() * 5)]
  const paths = Array.from({ length: 15_000 }, () => `${folder()}/${word(2_000)}/${word(20_000)}.${extension()}`)
  const identifiers = Array.from({ length: 35_000 }, () =>
    rnd() < 0.33 ? `${word(3_000)}_${word(20_000)}` : `${word(3_000)}${capital(word(20_000))}`,
  )
  return [...paths, ...identifiers]
})()
const thingAt = zipf(things.length, 0.9)

/** The needles of a history of this size, and where they are. */
export const needles = (size: number): Needle[] => {
  const rnd = random(3)
  return Array.from({ length: NEEDLES }, (_, i) => {
    const [a, b, c] = [0, 1, 2].map(() => WORDS[30_000 + Math.floor(rnd() * 80_000)]!) as [string, string, string]
    const number = 1_000 + Math.floor(rnd() * 9_000)
    const forms = [
      ['path', `src/${a}/${b}/${c}.ts`, `${a} ${b} ${c}.ts`],
      ['identifier', `${a}${b[0]!.toUpperCase()}${b.slice(1)}_${c}`, `${a} ${b} ${c}`],
      ['error code', `ERR_${a.toUpperCase()}_${b.toUpperCase()}_${number}`, `${a} ${b} ${number}`],
    ] as const
    const [kind, whole, parts] = forms[i % 3]!
    const at = Math.floor(((i + 0.5) / NEEDLES) * size)
    return { kind, whole, parts, typo: misspelt(whole, rnd), at }
  })
}

// A letter left out, doubled by a wrong one, or swapped with the next, somewhere inside.
const misspelt = (text: string, rnd: () => number) => {
  const at = 1 + Math.floor(rnd() * (text.length - 3))
  const ways = [
    text.slice(0, at) + text.slice(at + 1),
    `${text.slice(0, at)}q${text.slice(at + 1)}`,
    `${text.slice(0, at)}${text[at + 1]}${text[at]}${text.slice(at + 2)}`,
  ]
  const made = ways[Math.floor(rnd() * 3)]!
  return made.toLowerCase() === text.toLowerCase() ? ways[1]! : made
}

/** The events in the order of the sessions; `placed` hears where each needle went. */
export function* history(size: number, placed: (needle: Needle, session: number, sequence: number) => void = () => {}): Generator<Made> {
  const rnd = random(4)
  const planted = needles(size)
  let [session, sequence, left, turn, ordinal, inTurn] = [-1, 0, 0, 0, 0, 0]
  let subject: string[] = []
  for (let i = 0; i < size; i++) {
    if (left === 0) {
      session++
      left = Math.min(20 + Math.floor(rnd() * 360), size - i)
      sequence = turn = inTurn = 0
      subject = Array.from({ length: 40 }, (_, n) => (n < 25 ? WORDS[100 + Math.floor(rnd() * 30_000)]! : things[thingAt(rnd())]!))
    }
    if (inTurn === 0) {
      turn++
      ordinal = 0
      inTurn = Math.min(3 + Math.floor(rnd() * 20), left)
    }
    sequence++
    ordinal++
    left--
    inTurn--
    const [type, shortest, longest] = kindFor(ordinal, inTurn, rnd)
    const words = Math.round(shortest * (longest / shortest) ** rnd())
    let text = Array.from({ length: words }, () => wordFor(subject, rnd)).join(' ')
    const needle = planted.find(({ at }) => at === i)
    if (needle) {
      text = `${text.slice(0, text.length / 2)} ${needle.whole} ${text.slice(text.length / 2)}`
      placed(needle, session, sequence)
    }
    const tool = type.startsWith('tool_') ? ['exec_command', 'apply_patch', 'read_file'][Math.floor(rnd() * 3)]! : null
    yield { session, sequence, turn, ordinal, type: needle ? 'tool_response' : type, tool, terminal: inTurn === 0, text }
  }
}

const kindFor = (ordinal: number, left: number, rnd: () => number): readonly [string, number, number] => {
  if (ordinal === 1) return ['user_input', 6, 60]
  if (left === 0) return ['assistant_response', 20, 250]
  let draw = rnd() * 100
  for (const [type, share, shortest, longest] of TYPES) if ((draw -= share) < 0) return [type, shortest, longest]
  return ['tool_response', 10, 500]
}

const wordFor = (subject: string[], rnd: () => number) => {
  const draw = rnd()
  if (draw < 0.12) return subject[Math.floor(rnd() * subject.length)]!
  if (draw < 0.19) return things[thingAt(rnd())]!
  if (draw < 0.194) return ERRORS[Math.floor(rnd() * ERRORS.length)]!
  return WORDS[wordAt(rnd())]!
}
