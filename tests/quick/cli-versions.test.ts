// Which version of an agent's CLI is too old for what its driver was tested with.
import { expect, test } from 'bun:test'
import { isOlder } from '../../src/client/runner/agents.ts'

test.each([
  ['2.1.196', '2.1.197', true],
  ['2.1.197', '2.1.197', false],
  ['2.1.330 (Claude Code)', '2.1.197', false],
  ['1.99.999', '2.1.197', true],
  ['2.2', '2.1.197', false],
  ['codex-cli 0.99.1', '0.169.0', true],
  ['0.170.0-alpha.1', '0.169.0', false],
  ['no version at all', '2.1.197', false],
  [null, '2.1.197', false],
  ['1.0', undefined, false],
])('%s beside %s', (version, oldest, older) => expect(isOlder(version, oldest)).toBe(older))
