import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { documents } from './docs.ts'

test('the documents say what the code says; bun run docs renews them', () => {
  for (const [path, text] of Object.entries(documents()))
    expect(existsSync(path) && readFileSync(path, 'utf8'), `${path} is out of date: bun run docs`).toBe(text)
})
