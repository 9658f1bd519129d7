import { expect } from 'bun:test'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** The violations that axe finds on a page. In dark only colour contrast is checked, as all else is the same: a third of the time. */
export const violations = async (page: Page, colorScheme: 'light' | 'dark' = 'light'): Promise<string[]> => {
  // A transition passes through colours that nobody reads. Those that never end, such as a dot's pulse, are no transitions.
  await page.evaluate(
    'Promise.all(document.getAnimations().filter((each) => each instanceof CSSTransition).map((each) => each.finished.catch(() => {})))',
  )
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(AXE) // by the debugger, which no policy hinders
  // What passed is counted in the page: describing each element of it takes a third of the processor time of tests/browser/axe.test.ts.
  const { passed, violated } = await page.evaluate(
    async (runOnly) => {
      const { passes, violations }: AxeResults = await (window as any).axe.run(document, { runOnly, resultTypes: ['violations'] })
      return { passed: passes.length, violated: violations }
    },
    colorScheme === 'light' ? { type: 'tag', values: TAGS } : { type: 'rule', values: ['color-contrast'] },
  )
  expect(passed).toBeGreaterThan(colorScheme === 'light' ? 10 : 0) // axe has checked something
  return violated.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`))
}
