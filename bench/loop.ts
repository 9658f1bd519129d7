// How often and how soon the loop guard finds a storm, how often it mistakes an honest conversation for one, and what a check costs.
//   bun bench/loop.ts [conversations of each kind = 40] [first seed = 1]
import { isLoop, lookback, type LoopPost } from '../src/loops/detector.ts'
import { HONEST, LIMITS, randomFrom, STORMS } from './conversations.ts'
import { load, median, percentile, row } from './support.ts'

const EACH = Number(process.argv[2] ?? 40)
const SEED = Number(process.argv[3] ?? 1)
const RULE = { posts: 12, likeness: 0.9 }
const HONEST_BEGINNING = 10 // posts before the storm in bench/conversations.ts

/** The number of posts after which a guard that checks after every `step`th post marks the session. */
const markedAt = (posts: LoopPost[], step: number): number | undefined => {
  for (let end = step; end <= posts.length; end += step) if (isLoop(posts.slice(Math.max(0, end - lookback(RULE)), end), RULE)) return end
  return undefined
}

const runs = (make: (random: () => number) => LoopPost[], step: number) =>
  Array.from({ length: EACH }, (_, i) => markedAt(make(randomFrom(SEED + i)), step)).filter((at) => at !== undefined)

load()
row(`storms, ${EACH} of each`, 'detected   posts of the storm until then: p50, p95')
const storms = Object.entries(STORMS).map(([name, make]) => {
  const found = runs(make, 1)
  const posts = found.map((at) => at - HONEST_BEGINNING)
  row(name, `${((found.length / EACH) * 100).toFixed(1)} %   ${posts.length ? `${median(posts)}, ${percentile(posts, 0.95)}` : '-'}`)
  return found.length
})
row('all storms', `${((storms.reduce((a, b) => a + b) / (EACH * storms.length)) * 100).toFixed(2)} % detected`)

row(`honest, ${EACH} of each`, 'marked')
const honest = Object.entries(HONEST).map(([name, make]) => {
  const wrong = runs(make, 4).length
  row(name, `${((wrong / EACH) * 100).toFixed(1)} %`)
  return wrong
})
row('all honest conversations', `${((honest.reduce((a, b) => a + b) / (EACH * honest.length)) * 100).toFixed(2)} % marked`)

row('where it cannot know better', 'marked')
for (const [name, make] of Object.entries(LIMITS)) row(name, `${((runs(make, 4).length / EACH) * 100).toFixed(1)} %`)

const costOf = (conversation: LoopPost[]) => {
  const took = Array.from({ length: 200 }, () => {
    const begin = performance.now()
    isLoop(conversation, RULE)
    return performance.now() - begin
  })
  return `p50 ${median(took).toFixed(2)} ms  p99 ${percentile(took, 0.99).toFixed(2)} ms`
}
const posts = lookback(RULE)
row(`one check, ${posts} posts of a debate`, costOf(HONEST['lively: 500 posts in ten minutes']!(randomFrom(SEED)).slice(0, posts)))
const long = 'a long text without an end, '.repeat(1_200)
row(`one check, ${posts} posts of 32 KiB`, costOf(Array.from({ length: posts }, (_, i) => ({ by: `team-${i % 2}`, text: `${i} ${long}` }))))
load()
