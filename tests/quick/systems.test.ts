import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { aboutWaking } from '../../src/client/advice.ts'
import { CLIENTS } from '../../src/client/clients.ts'
import { checkClient } from '../../src/client/doctor/client.ts'
import { Stop, type Machine } from '../../src/client/machine.ts'
import { canFindProcesses } from '../../src/client/runner/processes.ts'
import { runRunner } from '../../src/client/runner/run.ts'
import { processOf } from '../../src/client/watch/processes.ts'

const on = <Result>(system: NodeJS.Platform, work: () => Result): Result => {
  const { platform } = process
  Object.defineProperty(process, 'platform', { value: system })
  try {
    return work()
  } finally {
    Object.defineProperty(process, 'platform', { value: platform })
  }
}

// As on a Mac whose language is German, and which has been carried to Berlin. `line`: what `ps` prints of the one process that there is, with
// TIME for its start.
const onAMac = <Result>(line: string, work: () => Result): Result => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-ps-'))
  const path = process.env.PATH
  const ps = `#!/bin/sh
case "$TZ" in UTC0) at=10:00:00 ;; *) at=11:00:00 ;; esac
case "$LC_ALL" in C) time="Thu Nov 26 $at 2026" ;; *) time="Do 26 Nov $at 2026" ;; esac
echo '${line}' | sed "s/TIME/$time/"
`
  writeFileSync(join(folder, 'ps'), ps, { mode: 0o755 })
  process.env.PATH = `${folder}:${path}`
  try {
    return on('darwin', work)
  } finally {
    process.env.PATH = path
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

test('on Windows connect and doctor say that what wakes an agent needs another system, and no hook is said to be broken', () => {
  const told = 'What wakes Claude Code needs Linux or macOS: on Windows its agent must hold a wait to hear the others. In WSL'
  expect(on('win32', () => aboutWaking(CLIENTS.claude))).toStartWith(told)
  expect(aboutWaking(CLIENTS.claude)).toContain('while you are away')
  const home = mkdtempSync(join(tmpdir(), 'parley-home-'))
  const machine = { env: {}, home, program: '/parley.mjs', runtime: 'node.exe' } as unknown as Machine
  const stop = { path: ['hooks', 'Stop'], as: 'element' as const, value: { hooks: [{ command: 'none' }] } }
  const files = [{ format: 'json' as const, path: join(home, 'settings.json'), entries: [stop], made: [], wasMissing: false }]
  const connection = {
    client: 'claude' as const,
    link: 'http://127.0.0.1:9/mcp',
    server: 'parley',
    wakeFor: 'all' as const,
    version: '1',
    files,
  }
  const found = on('win32', () => checkClient(machine, connection))
  rmSync(home, { recursive: true })
  expect(found.map(({ kind }) => kind)).toEqual(['good', 'note', 'note'])
  expect(found.at(-1)!.text).toStartWith(told)
})

test('on Windows a runner says that it needs another system, and ends before it looks for anything', async () => {
  const said: string[] = []
  const machine = { env: {}, folder: '/', program: '/parley.mjs', out: { write: (text: string) => said.push(text) } } as unknown as Machine
  const run = (...words: string[]) =>
    on('win32', () =>
      runRunner(['runner', '--url', 'http://127.0.0.1:1', ...words], machine, { builtIn: [], added: () => undefined as never }),
    )
  const refused = await run().catch((error) => error)
  expect([refused instanceof Stop, refused.message]).toEqual([true, expect.stringContaining('needs Linux or macOS')])
  expect(await run('--help')).toBe(0)
  expect(said.join('')).toContain('parley runner --hub')
})
