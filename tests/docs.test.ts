import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { STATUS } from '../src/core/errors.ts'
import { documents } from './docs.ts'

test('the documents say what the code says; bun run docs renews them', () => {
  for (const [path, text] of Object.entries(documents()))
    expect(existsSync(path) && readFileSync(path, 'utf8'), `${path} is out of date: bun run docs`).toBe(text)
})

test('AGENTS.md says of each error code which status it has and what to do', () => {
  const rows = [...readFileSync('AGENTS.md', 'utf8').matchAll(/^\| (\d{3}) \| `(\w+)` \| \S.* \|$/gm)]
  expect(Object.fromEntries(rows.map(([, status, code]) => [code, Number(status)]))).toEqual(STATUS)
})
