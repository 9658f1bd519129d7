// What each version of each CLI printed on a task, played again: the events are those that an import of its own transcript gives.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { builtInDrivers } from '../../../src/client/runner/drivers/drivers.ts'
import { newStage, workOf, type Stage } from '../../support/drivers.ts'
import { recordingOf, replay } from '../../support/recorded-cli.ts'

let stage: Stage
beforeEach(() => void (stage = newStage()))
afterEach(() => stage.drop())

const names = readdirSync(join(import.meta.dir, '../../data/clis')).map((file) => file.replace('.jsonl', ''))

test('every agent that is built in has a recording', () => {
  for (const { agenticTool } of builtInDrivers) expect(names.some((name) => name.startsWith(agenticTool))).toBe(true)
})

test.each(names)('%s', async (name) => {
  const driver = builtInDrivers.find(({ agenticTool }) => name.startsWith(agenticTool))!
  const steps = recordingOf(name, stage.home)
  replay(stage, driver.program, steps)
  const task = stage.run(driver, stage.job())
  expect(await task.result).toMatchObject({
    status: 'completed',
    answer: 'All done.',
    conversation: expect.any(String),
    usage: { output_tokens: name.startsWith('opencode') ? null : expect.any(Number) }, // opencode tells those of the last call alone
  })
  const expected = steps.flatMap((step) => ('expected' in step ? [step.expected] : []))[0]
  expect(workOf(task.told.map(({ event }) => event))).toEqual(expected as ReturnType<typeof workOf>)
  expect(task.asked.map(({ text }) => text)).toEqual([expect.stringContaining('echo hi; exit 3')])
  expect(task.asked).toHaveLength(1)
})
