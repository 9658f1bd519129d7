// Needs Claude Code in the folders claude and claude-2.1.197 of PARLEY_CLIENTS; without them it says so and passes.
import { afterEach, describe, expect, test } from 'bun:test'
import { claude } from '../../../src/client/runner/drivers/claude.ts'
import { claudeVersions, openClaude } from '../../support/claude-versions.ts'
import { isRoot, NOBODY, type Stage } from '../../support/drivers.ts'
import type { ScriptedModel } from '../../support/scripted-model.ts'

const LONG_MS = 180_000

let stage: Stage
let model: ScriptedModel
afterEach(async () => {
  stage?.drop()
  await model?.stop()
})

for (const { version, bin } of claudeVersions()) {
  describe(`Claude Code ${version}`, () => {
    test.each([
      ['plan', 'plan'],
      ['default', 'default'],
      ['ask', 'default'],
      ['acceptEdits', 'acceptEdits'],
      ['auto', 'acceptEdits'],
      ['on-failure', 'acceptEdits'],
      ['bypassPermissions', 'bypassPermissions'],
      ['allow-all', 'bypassPermissions'],
    ])(
      'the mode %s reaches it as %s',
      async (permissionMode, wanted) => {
        ;({ stage, model } = openClaude(bin, [() => 'Done.'], {}, isRoot ? { user: NOBODY } : {})) // as root it refuses to bypass permissions
        const task = stage.run(claude, stage.job({ permissionMode }))
        expect(await task.result).toMatchObject({ status: 'completed' })
        const begun = task.told.find(({ event }) => event.content.event === 'init')!.event.content
        expect(begun.data).toMatchObject({ permissionMode: wanted })
      },
      LONG_MS,
    )

    test.skipIf(!isRoot)(
      'as root it refuses to bypass permissions, in its own words',
      async () => {
        ;({ stage, model } = openClaude(bin, [() => 'Done.']))
        const { status, error } = await stage.run(claude, stage.job({ permissionMode: 'allow-all' })).result
        expect(status).toBe('failed')
        expect(error!.message).toContain('cannot be used with root')
      },
      LONG_MS,
    )
  })
}
