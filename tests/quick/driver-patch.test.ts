import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'

const PATCHES = `${import.meta.dir}/../../db/patches`

test('every hunk of the patch of the Postgres driver is explained beside it, and nothing else is', () => {
  const hunks: string[] = []
  let file = ''
  for (const line of readFileSync(`${PATCHES}/postgres@3.4.9.patch`, 'utf8').split('\n')) {
    file = /^\+\+\+ b\/src\/(\S+)/.exec(line)?.[1] ?? file
    const start = /^@@ -\d+,\d+ \+(\d+),/.exec(line)?.[1]
    if (start) hunks.push(`${file}:${start}`)
  }
  const explained = readFileSync(`${PATCHES}/README.md`, 'utf8').match(/(?<=`)\w+\.js:\d+(?=`)/g)
  expect([...new Set(explained)].toSorted()).toEqual(hunks.toSorted())
})

test('the tests that the explanation names exist', () => {
  const explanation = readFileSync(`${PATCHES}/README.md`, 'utf8')
  for (const [, path, names] of explanation.matchAll(/`(tests\/faults\/[\w-]+\.test\.ts)`([^`]*)/g)) {
    const source = readFileSync(`${PATCHES}/../../${path}`, 'utf8')
    for (const [, name] of names!.matchAll(/"([^"]+)"/g)) expect(source, path).toContain(name!.replace(/,? …$/, ''))
  }
})
