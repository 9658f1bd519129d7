// What the slowest texts cost, and an ordinary page of them: bun bench/markdown.ts
import { readFileSync } from 'node:fs'
import { prepareMarkdown, renderMarkdown } from '../src/markdown/render.ts'
import { KIB_32, WORST } from '../tests/support/worst.ts'
import { load, percentile, row, spread } from './support.ts'

const ROUNDS = 7
const AGENTS = readFileSync(new URL('../AGENTS.md', import.meta.url), 'utf8')

// A text of another ending each time, so that none is found in the cache.
let ending = 0
const timed = (text: string) => {
  const fresh = `${text}\n${' '.repeat(1 + (ending++ % 50))}${ending}`
  const begin = performance.now()
  renderMarkdown(fresh)
  return performance.now() - begin
}

load()
row('first text of a process, 10 KiB, ms', timed(AGENTS.slice(0, 10 * 1024)).toFixed(1))
for (let i = 0; i < 100; i++) timed(AGENTS)
row('10 KiB of AGENTS.md, ms', spread(Array.from({ length: 200 }, () => timed(AGENTS.slice(0, 10 * 1024)))))
row('300 characters, ms', spread(Array.from({ length: 500 }, () => timed(AGENTS.slice(500, 800)))))

console.log(`\n${KIB_32 / 1024} KiB each, best and median of ${ROUNDS}, ms`)
const worst = Object.entries(WORST).map(([name, text]) => {
  const took = Array.from({ length: ROUNDS }, () => timed(text))
  return { name, best: Math.min(...took), median: percentile(took, 0.5) }
})
for (const { name, best, median } of worst.toSorted((a, b) => b.best - a.best).slice(0, 12))
  row(name, `${best.toFixed(1).padStart(6)} ${median.toFixed(1).padStart(6)}`)
row('the other', `${worst.length - 12} take less`)

console.log('\n512 KiB, while others get their turn')
for (const [name, text] of [
  ['AGENTS.md, over and over', AGENTS.repeat(40).slice(0, 512 * 1024)],
  [
    'the slow texts, one after the other',
    Object.values(WORST)
      .join('\n\n')
      .slice(0, 512 * 1024),
  ],
] as const) {
  const stalls: number[] = []
  let last = performance.now()
  const timer = setInterval(() => {
    stalls.push(performance.now() - last)
    last = performance.now()
  }, 1)
  const begin = performance.now()
  await prepareMarkdown(text)
  const total = performance.now() - begin
  clearInterval(timer)
  row(name, `${total.toFixed(0)} ms, longest stall ${Math.max(...stalls).toFixed(0)} ms`)
}
load()
process.exit(0)
