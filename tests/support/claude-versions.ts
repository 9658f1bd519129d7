// The versions of Claude Code that a runner is tested with, on a script in place of their model.
import { clientBin, newStage } from './drivers.ts'
import { CLAUDE_VERSION } from './real-claude.ts'
import { startScriptedModel, type Maker } from './scripted-model.ts'

const FOLDERS = { [CLAUDE_VERSION]: 'claude', '2.1.197': 'claude-2.1.197' }

/** Those that are there; says which are not. */
export const claudeVersions = (): { version: string; bin: string }[] =>
  Object.entries(FOLDERS).flatMap(([version, folder]) => {
    const bin = clientBin(folder)
    if (bin !== undefined) return [{ version, bin }]
    console.log(
      `Skipped: Claude Code ${version} is not in the folder ${folder} of PARLEY_CLIENTS (npm i @anthropic-ai/claude-code@${version}).`,
    )
    return []
  })

export const openClaude = (bin: string, moves: Maker[], env: Record<string, string> = {}, more: { user?: number } = {}) => {
  const model = startScriptedModel(moves)
  const own = { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', ANTHROPIC_API_KEY: 'x', ANTHROPIC_BASE_URL: model.url }
  return { model, stage: newStage([bin], { ...own, ...env }, more) }
}
