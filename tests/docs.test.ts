import { expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { STATUS } from '../src/core/errors.ts'
import { documents } from './docs.ts'

test('the documents say what the code says; bun run docs renews them', () => {
  for (const [path, text] of Object.entries(documents()))
    expect(existsSync(path) && readFileSync(path, 'utf8'), `${path} is out of date: bun run docs`).toBe(text)
})

test('AGENTS.md has at most 6 KiB, and each page beside it 6 KB', () => {
  expect(statSync('AGENTS.md').size).toBeLessThanOrEqual(6 * 1024)
  const pages = Object.entries(documents()).filter(([path]) => path.includes('/guides/'))
  expect(pages.length).toBeGreaterThan(4)
  for (const [path, text] of pages) expect(Buffer.byteLength(text), path).toBeLessThanOrEqual(6_000)
})

test('the page of errors says of each code which status it has and what to do', () => {
  const rows = [...readFileSync('src/rooms/guides/errors.md', 'utf8').matchAll(/^\| (\d{3}) \| `(\w+)` \| \S.* \|$/gm)]
  expect(Object.fromEntries(rows.map(([, status, code]) => [code, Number(status)]))).toEqual(STATUS)
})

test('a .env that is written as .env.example says gives each value whole', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-env-'))
  try {
    writeFileSync(join(folder, '.env'), 'OPERATOR_KEY="a\\$b#c"\nVIEWER_PASSWORD=a\\$b\n')
    const print = 'console.log(process.env.OPERATOR_KEY, process.env.VIEWER_PASSWORD)'
    const { stdout } = Bun.spawnSync([process.execPath, '-e', print], { cwd: folder, env: {} })
    expect(stdout.toString()).toBe('a$b#c a$b\n')
  } finally {
    rmSync(folder, { recursive: true })
  }
})
