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
  const results = (await page.evaluate(
    (runOnly) => (window as any).axe.run(document, { runOnly }),
    colorScheme === 'light' ? { type: 'tag', values: TAGS } : { type: 'rule', values: ['color-contrast'] },
  )) as AxeResults
  expect(results.passes.length).toBeGreaterThan(colorScheme === 'light' ? 10 : 0) // axe has checked something
  return results.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
  )
}
