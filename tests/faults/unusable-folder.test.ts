// A DATA_DIR that cannot be used ends the start and every command with one sentence that says what to do.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { shortOf } from '../support/full.ts'

const SERVER = join(import.meta.dir, '../../src/server.ts')
const NOBODY = 65_534
const isRoot = process.getuid?.() === 0
// Permission bits do not bind root: as root, the child runs as another user, if that one can run Bun and read the checkout.
const asNobody = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups']
const bound = !isRoot || spawnSync(asNobody[0]!, [...asNobody.slice(1), process.execPath, SERVER, 'no-command'], { cwd: '/' }).status === 1
const canMount = isRoot && spawnSync('unshare', ['-m', 'true']).status === 0

let scratch: string
beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), 'parley-unusable-'))
  chmodSync(scratch, 0o755)
  writeFileSync(join(scratch, 'file'), 'Mine.')
  for (const [name, mode] of [
    ['read-only', 0o555],
    ['closed', 0o000],
    ['mounted', 0o755],
  ] as const) {
    mkdirSync(join(scratch, name))
    if (isRoot) chownSync(join(scratch, name), NOBODY, NOBODY)
    chmodSync(join(scratch, name), mode)
  }
  mkdirSync(join(scratch, 'locked'), { mode: 0o777 })
  chmodSync(join(scratch, 'locked'), 0o777)
  writeFileSync(join(scratch, 'locked', 'lock'), JSON.stringify({ pid: process.pid, born: '' }), { mode: 0o000 })
})
afterAll(() => {
  for (const name of ['read-only', 'closed']) chmodSync(join(scratch, name), 0o755)
  rmSync(scratch, { recursive: true, force: true })
})

const transcript = join(import.meta.dir, '../data/claude-code.jsonl')
const RUNS = shortOf([[], ['import', transcript], ['migrate'], ['operator-key'], ['reindex']], 2)
const { PATH = '', HOME = '' } = process.env

const refusal = (as: string[], words: string[], folder: string) => {
  const [program, ...args] = [...as, process.execPath, SERVER, ...words] as [string, ...string[]]
  const env = { PATH, HOME, PORT: '0', DATA_DIR: folder }
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: '/', env, encoding: 'utf8', timeout: 170_000 })
  expect(stdout).toBe('')
  expect(status).toBe(1)
  expect(stderr.trim().split('\n')).toHaveLength(1)
  expect(stderr).toStartWith(`The data folder ${folder} `)
  expect(stderr).toContain('set DATA_DIR to another one')
  return stderr
}

describe.each(RUNS.map((words) => [words[0] ?? 'start', words] as const))('%s', (_, words) => {
  test.each(['file', 'file/data'])('on DATA_DIR %s', (place) => {
    expect(refusal([], words, join(scratch, place))).toContain('is a file or lies below one')
  })

  test.if(bound).each(['read-only', 'read-only/data', 'closed', 'closed/data', 'locked'])('on DATA_DIR %s', (place) => {
    expect(refusal(isRoot ? asNobody : [], words, join(scratch, place))).toMatch(/cannot be used by user \d+/)
  })

  test.if(canMount)('on a read-only file system', () => {
    const folder = join(scratch, 'mounted')
    const mount = [
      'unshare',
      '-m',
      'sh',
      '-c',
      `mount --bind '${folder}' '${folder}' && mount -o remount,ro,bind '${folder}' && exec "$@"`,
      'sh',
    ]
    expect(refusal(mount, words, folder)).toContain('read-only file system')
    expect(execFileSync('ls', [folder], { encoding: 'utf8' })).toBe('')
  })
})
