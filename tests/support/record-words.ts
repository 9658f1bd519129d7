// Words as records have them, made up: the common ones of such work, and rarer ones by their syllables. The same at every run.
import { random } from './random.ts'

const COMMON =
  'the a of to for and in on with when before after use keep move drop split merge write read check retry release deploy review document measure test parser reader writer index cache queue token session message server client runner worker schema migration column table query search page form button error timeout limit budget log event cursor lock lease claim plan board decision proposal approval owner team person key link feed export import backup restore upgrade version branch commit build bundle image script style font theme'.split(
    ' ',
  )
const [ONSETS, VOWELS, CODAS] = [
  'b c d f g l m n p r s t v br cl dr pl st tr'.split(' '),
  'a e i o u ea ou'.split(' '),
  ['', 'n', 'r', 's', 't', 'l'],
]

/** `count` different words, the commonest first. */
export const recordWords = (count: number): string[] => {
  const rnd = random(7)
  const pick = (from: readonly string[]) => from[Math.floor(rnd() * from.length)]!
  const words = new Set(COMMON)
  while (words.size < count)
    words.add(Array.from({ length: 2 + Math.floor(rnd() * 2) }, () => pick(ONSETS) + pick(VOWELS) + pick(CODAS)).join(''))
  return [...words]
}
