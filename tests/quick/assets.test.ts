import { Glob } from 'bun'
import { readFileSync } from 'node:fs'
import { expect, test } from 'bun:test'
import { SCRIPTS } from '../../components/scripts.ts'
import { readAssets } from '../../src/pages/assets.ts'

test('what a script loads by its name is served', async () => {
  const scripts = [...new Glob('public/**/*.js').scanSync('.')].filter((path) => !/app\.js$|built\//.test(path))
  const loaded = scripts.flatMap((path) => readFileSync(path, 'utf8').match(/(?<='\/public\/)[\w.]+(?=')/g) ?? [])
  const served = await readAssets(async () => new Response('text'))
  expect(loaded).toContain('help.js')
  expect([...SCRIPTS, ...loaded].filter((name) => !served.has(name))).toEqual([])
})
