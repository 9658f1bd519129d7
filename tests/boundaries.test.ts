import { expect, test } from 'bun:test'
import { Glob } from 'bun'

// What each part may import, apart from itself: nothing flows backwards (README, "How it is built").
const CONTRACTS = ['context.ts', 'config.ts', 'services.ts', 'keys.ts', 'gate.ts', 'loop-guard.ts', 'operator-key.ts', 'toolsets.ts']
const MAY: Record<string, string[]> = {
  core: [],
  stores: ['core', 'db'],
  rooms: ['core', 'stores', 'context.ts', 'services.ts', 'keys.ts'],
  history: ['core', 'stores', 'db', 'context.ts'],
  import: ['core', 'stores', 'db', 'services.ts'],
  doors: ['core', 'stores', 'rooms', 'history', 'import', 'components', ...CONTRACTS],
}
const BUN_ONLY = ['src/server.ts']

const sources = async () =>
  Promise.all(
    [...new Glob('{src,db,components}/**/*.{ts,tsx}').scanSync('.')].map(async (path) => ({ path, text: await Bun.file(path).text() })),
  )

test('imports point inwards only', async () => {
  const wrong: string[] = []
  for (const { path, text } of await sources()) {
    const [top, part] = path.split('/')
    const may = top === 'src' ? MAY[part!] : undefined
    if (!may) continue
    for (const [, target] of text.matchAll(/from '(\.[^']+)'/g)) {
      const [root, ...rest] = new URL(target!, `file:///${path}`).pathname.slice(1).split('/')
      const place = root === 'src' ? rest[0]! : root!
      const text = /\.(md|json)$/.test(target!)
      if (!text && place !== part && !may.includes(place)) wrong.push(`${path} imports ${target}`)
    }
  }
  expect(wrong).toEqual([])
})

test('only the entry speaks to Bun or reads the environment', async () => {
  const found = (await sources())
    .filter(({ path, text }) => !BUN_ONLY.includes(path) && /\bBun\.|process\.env\b|from 'bun'/.test(text))
    .map(({ path }) => path)
  expect(found).toEqual([])
})
