import { expect, test } from 'bun:test'
import { announcedMode, claudeMode, codexMode, permissionOf } from '../../src/client/runner/drivers/modes.ts'
import { isBypass, levelOf, PERMISSION_MODES } from '../../src/core/permission-modes.ts'

const READ_ONLY = 'read-only untrusted'
const ON_REQUEST = 'workspace-write on-request'
const NEVER = 'workspace-write never'
const GEMINI = ['default', 'autoEdit', 'yolo', 'plan']

// Each of the eight modes for Claude Code, Codex, an agent that announces Gemini CLI's modes, and one that announces none.
const EXPECTED: Record<(typeof PERMISSION_MODES)[number], [claude: string, codex: string, gemini: string, permission: string]> = {
  plan: ['plan', READ_ONLY, 'plan', 'deny'],
  default: ['default', READ_ONLY, 'default', 'ask'],
  ask: ['default', READ_ONLY, 'default', 'ask'],
  acceptEdits: ['acceptEdits', ON_REQUEST, 'autoEdit', 'edits'],
  auto: ['acceptEdits', ON_REQUEST, 'autoEdit', 'edits'],
  'on-failure': ['acceptEdits', ON_REQUEST, 'autoEdit', 'edits'],
  bypassPermissions: ['bypassPermissions', NEVER, 'yolo', 'all'],
  'allow-all': ['bypassPermissions', NEVER, 'yolo', 'all'],
}

test.each([...PERMISSION_MODES])('%s is what each agent calls it [C2 C3]', (mode) => {
  const { sandbox, approvalPolicy } = codexMode(mode)
  expect([claudeMode(mode), `${sandbox} ${approvalPolicy}`, announcedMode(mode, GEMINI), permissionOf(mode)]).toEqual(EXPECTED[mode])
})

test('an agent that announces the mode by its own name gets that one; a mode of nobody passes through, and allows nothing by itself [C3]', () => {
  expect(announcedMode('auto', ['default', 'auto', 'acceptEdits'])).toBe('auto')
  expect(announcedMode('auto', ['build'])).toBeUndefined()
  expect(announcedMode('yolo', GEMINI)).toBeUndefined() // --allow-bypass knows our names for it alone
  expect([claudeMode('dontAsk'), codexMode('dontAsk').sandbox, permissionOf('dontAsk')]).toEqual(['dontAsk', 'read-only', 'ask'])
  expect(claudeMode('constructor')).toBe('constructor')
})

test('the modes that switch permissions off are these two alone, and a mode of nobody is below all others [C3]', () => {
  expect(PERMISSION_MODES.filter(isBypass)).toEqual(['bypassPermissions', 'allow-all'])
  for (const mode of [null, '', 'dontAsk', 'constructor', 'BypassPermissions']) expect([levelOf(mode), isBypass(mode)]).toEqual([0, false])
})
