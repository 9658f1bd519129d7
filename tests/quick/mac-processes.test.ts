import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { canFindProcesses } from '../../src/client/runner/processes.ts'
import { processOf } from '../../src/client/watch/processes.ts'

// As on a Mac whose language is German. `line`: what `ps` prints of the one process that there is, with TIME for its start.
const onAMac = <Result>(line: string, work: () => Result): Result => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-ps-'))
  const [path, platform] = [process.env.PATH, process.platform]
  const ps = `#!/bin/sh
case "$LC_ALL" in C) time="Thu Nov 26 10:00:00 2026" ;; *) time="Do 26 Nov 10:00:00 2026" ;; esac
echo '${line}' | sed "s/TIME/$time/"
`
  writeFileSync(join(folder, 'ps'), ps, { mode: 0o755 })
  process.env.PATH = `${folder}:${path}`
  Object.defineProperty(process, 'platform', { value: 'darwin' })
  try {
    return work()
  } finally {
    process.env.PATH = path
    Object.defineProperty(process, 'platform', { value: platform })
    rmSync(folder, { recursive: true })
  }
}

test('on a Mac the processes of a task are found whatever its language is; where ps tells nothing, that is known', () => {
  expect(onAMac('  123     1 S    TIME sleep 60 PATH=/bin AGENT_TASK_MARK=runner.1', canFindProcesses)).toBe(true)
  expect(onAMac('nothing that can be read', canFindProcesses)).toBe(false)
  expect(canFindProcesses()).toBe(true)
})

test('so is the client whose hook runs', () => {
  expect(onAMac('    1 TIME /usr/bin/node', () => processOf(123))).toEqual({ pid: 123, start: 'Thu Nov 26 10:00:00 2026' })
})
