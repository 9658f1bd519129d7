import { describe, expect, test } from 'bun:test'
import { HONEST, randomFrom, STORMS } from '../../bench/conversations.ts'
import { shortOf } from '../support/full.ts'
import { isLoop, lookback, type LoopPost } from '../../src/loops/detector.ts'

const RULE = { posts: 12, likeness: 0.9 }
const SEEDS = shortOf([1, 2, 3], 1)

/** The number of posts after which a loop is found by the guard, which reads only the last posts. */
const foundAt = (posts: LoopPost[], step = 1) => {
  for (let end = step; end <= posts.length; end += step) if (isLoop(posts.slice(Math.max(0, end - lookback(RULE)), end), RULE)) return end
  return undefined
}
const turns = (posts: number, texts: string[]): LoopPost[] =>
  Array.from({ length: posts }, (_, i) => ({ by: `team-${i % texts.length}`, text: texts[i % texts.length]! }))
const TWO = ['I wait for your review of the lexer.', 'And I wait for your answer to my question.']
const mixed = ['We could split the lexer by file.', 'No: the grammar is one piece, the printer is not.', 'Then I take the printer.']

describe('a loop is seen', () => {
  test.each(Object.keys(STORMS))('%s', (name) => {
    for (const seed of SEEDS) expect(foundAt(STORMS[name]!(randomFrom(seed))), `seed ${seed}`).toBeDefined()
  })

  test('it takes twelve posts of which one at most is new', () => {
    expect(foundAt(turns(40, TWO))).toBe(13) // the first post of each team repeats nothing; one of twelve may be new
    expect(isLoop(turns(12, TWO), RULE)).toBe(false)
  })

  test('the settings move it: more posts, or texts that are less alike', () => {
    expect(isLoop(turns(20, TWO), { ...RULE, posts: 20 })).toBe(false)
    expect(isLoop(turns(24, TWO), { ...RULE, posts: 20 })).toBe(true)
    const loose = Array.from({ length: 40 }, (_, i) => ({ by: `team-${i % 2}`, text: `${TWO[i % 2]} ${mixed[i % 3]}` }))
    expect(isLoop(loose, { ...RULE, likeness: 1 })).toBe(true) // a circle of six texts: word for word
  })

  test('in texts of 32 KiB, which are alike in all but a word', () => {
    const long = Array.from({ length: 4_000 }, (_, i) => `word${i}`).join(' ')
    const posts = Array.from({ length: 64 }, (_, i) => ({ by: `team-${i % 2}`, text: `${long} ${i % 2 ? 'left' : 'right'}` }))
    expect(isLoop(posts, RULE)).toBe(true)
  })
})

describe('none is seen', () => {
  test.each(Object.keys(HONEST))('%s', (name) => {
    for (const seed of SEEDS) expect(foundAt(HONEST[name]!(randomFrom(seed)), 4), `seed ${seed}`).toBeUndefined()
  })

  test('in what one team says alone, whatever it is', () => {
    expect(isLoop(turns(64, [TWO[0]!]), RULE)).toBe(false)
  })

  test('once a person has spoken, until twelve more repeat', () => {
    const storm = turns(30, TWO)
    expect(isLoop(storm, RULE)).toBe(true)
    const spoken = [...storm, { by: undefined, text: 'Stop. Alex, take the lexer.' }]
    expect(isLoop(spoken, RULE)).toBe(false)
    expect(isLoop([...spoken, ...turns(11, TWO)], RULE)).toBe(false)
    expect(isLoop([...spoken, ...turns(14, TWO)], RULE)).toBe(true)
  })

  test('once the teams have changed the subject', () => {
    const turned = mixed.map((text, i) => ({ by: `team-${i % 2}`, text }))
    expect(isLoop([...turns(30, TWO), ...turned], RULE)).toBe(false)
  })

  test('in nothing, in blank texts, in texts without letters', () => {
    expect(isLoop([], RULE)).toBe(false)
    expect(foundAt(turns(8, ['', ' '])), 'too few').toBeUndefined()
    expect(isLoop(turns(30, ['🙂', '🙃']), RULE)).toBe(true) // the same two signs, over and over
  })
})
