import { describe, expect, test } from 'bun:test'
import { Glob } from 'bun'
import { isBuiltin } from 'node:module'

// What each part may import, apart from itself: nothing flows backwards (README, "How it is built"). A file beside the folders of src/
// is a part of its own.
const CONTRACTS = ['context.ts', 'config.ts', 'services.ts', 'keys.ts', 'gate.ts', 'loop-guard.ts', 'operator-key.ts', 'toolsets.ts']
const MAY: Record<string, string[]> = {
  db: [],
  core: [],
  components: ['core'],
  stores: ['core', 'db'],
  rooms: ['core', 'stores', 'context.ts', 'services.ts', 'keys.ts'],
  history: ['core', 'stores', 'db', 'context.ts'],
  import: ['core', 'stores', 'db', 'services.ts'],
  doors: ['core', 'stores', 'rooms', 'history', 'import', 'components', ...CONTRACTS],
  'config.ts': [],
  'loop-guard.ts': ['core', 'stores', 'db', 'config.ts'],
  'growth.ts': ['core', 'stores', 'db', 'loop-guard.ts'],
  'background.ts': ['core', 'stores', 'db', 'growth.ts', 'loop-guard.ts'],
  'services.ts': ['core', 'stores', 'db', 'config.ts', 'loop-guard.ts', 'growth.ts', 'background.ts'],
  'context.ts': ['core', 'stores', 'db', 'services.ts'],
  'keys.ts': ['core', 'stores', 'context.ts'],
  'writes.ts': ['core', 'stores', 'db', 'context.ts', 'keys.ts'],
  'gate.ts': ['core', 'stores', 'db', 'context.ts', 'services.ts', 'keys.ts', 'writes.ts'],
  'operator-key.ts': ['core', 'stores', 'services.ts'],
  cli: ['db'],
  'toolsets.ts': ['rooms', 'history', 'context.ts'],
  'docs.ts': ['doors', 'config.ts', 'context.ts'],
  'app.ts': ['core', 'doors', 'context.ts', 'gate.ts', 'services.ts', 'toolsets.ts'],
  'command-line.ts': ['core', 'db', 'import', 'config.ts', 'operator-key.ts', 'services.ts'],
  'server.ts': ['core', 'db', 'doors', 'import', 'app.ts', 'command-line.ts', 'config.ts', 'operator-key.ts', 'services.ts'],
}
const ENTRY = 'src/server.ts'

// What of Node's is used where in src/, the entry aside. A runtime that lacks one of these cannot serve what imports it.
const NODE: Record<string, string[]> = {
  'src/cli/install.ts': ['node:child_process', 'node:fs', 'node:path', 'node:timers/promises'],
  'src/core/ids.ts': ['node:crypto'],
  'src/doors/pages/answer.tsx': ['node:util', 'node:zlib'],
  'src/doors/pages/assets.ts': ['node:crypto', 'node:util', 'node:zlib'],
  'src/import/command.ts': ['node:fs', 'node:path'],
  'src/import/files.ts': ['node:fs', 'node:path'],
  'src/import/source.ts': ['node:crypto', 'node:fs', 'node:path'],
  'src/import/writer.ts': ['node:crypto'],
}
// Of these, what a request can reach.
const SERVED = ['node:crypto', 'node:fs', 'node:path', 'node:util', 'node:zlib']
const READS_FILES = 'src/import/source.ts'

interface Source {
  path: string
  text: string
}

const sources = async (): Promise<Source[]> =>
  Promise.all(
    [...new Glob('{src,db,components}/**/*.{ts,tsx}').scanSync('.')]
      .toSorted()
      .map(async (path) => ({ path, text: await Bun.file(path).text() })),
  )

// `import … from`, `export … from`, the bare `import '…'`, `import('…')` and `require('…')`.
const importsIn = (text: string): string[] =>
  [...text.matchAll(/\b(?:from|import|require)\s*\(?\s*['"`]([^'"`\n]+)['"`]/g)].map(([, target]) => target!)

const fileOf = (target: string, path: string) => new URL(target, `file:///${path}`).pathname.slice(1)

const partOf = (path: string): string => {
  const [top, part] = path.split('/')
  return top === 'src' ? part! : top!
}

const wrongImports = (files: Source[]): string[] =>
  files.flatMap(({ path, text }) => {
    const part = partOf(path)
    const may = MAY[part]
    if (!may) return `${path} is in no row of the table`
    return importsIn(text)
      .filter((target) => target.startsWith('.') && !/\.(md|json)$/.test(target))
      .filter((target) => ![part, ...may].includes(partOf(fileOf(target, path))))
      .map((target) => `${path} imports ${target}`)
  })

const nodeModules = (text: string) => [...new Set(importsIn(text).filter(isBuiltin))].toSorted()

// Imports of types are gone by the time it runs.
const withoutTypes = (text: string) => text.replace(/^(?:import|export) type [^'"=]*\bfrom ['"][^'"]+['"]/gm, '')

const reachedFrom = (entries: string[], files: Source[]): Source[] => {
  const byPath = new Map(files.map((file) => [file.path, file]))
  const reached = new Set(entries)
  for (const path of reached)
    for (const target of importsIn(withoutTypes(byPath.get(path)!.text))) {
      const file = target.startsWith('.') ? fileOf(target, path) : ''
      if (byPath.has(file)) reached.add(file)
    }
  return [...reached].map((path) => byPath.get(path)!)
}

test('imports point inwards only', async () => {
  const files = await sources()
  expect(wrongImports(files)).toEqual([])
  expect([...new Set(files.map(({ path }) => partOf(path)))].toSorted()).toEqual(Object.keys(MAY).toSorted())
})

describe('an import that points outwards is found', () => {
  const WAYS = [
    "import { main } from 'OUT'",
    "import type { Main } from 'OUT'",
    "import {\n  main,\n} from 'OUT'",
    "export { main } from 'OUT'",
    "export * from 'OUT'",
    "import 'OUT'",
    "const main = await import('OUT')",
    'const main = import(\n  "OUT"\n)',
    'const main = require(`OUT`)',
  ]
  for (const part of Object.keys(MAY))
    test(`in ${part}`, () => {
      const [path, out] =
        part === 'db' || part === 'components'
          ? [`${part}/made-up.ts`, '../src/docs.ts']
          : part.endsWith('.ts')
            ? [`src/${part}`, part === 'docs.ts' ? './server.ts' : './docs.ts']
            : [`src/${part}/pages/made-up.ts`, '../../docs.ts']
      for (const way of WAYS) expect(wrongImports([{ path, text: way.replace('OUT', out) }])).toEqual([`${path} imports ${out}`])
    })

  test('in a part that the table does not know', () => {
    expect(wrongImports([{ path: 'src/made-up.ts', text: '' }])).toEqual(['src/made-up.ts is in no row of the table'])
  })
})

test('only the entry speaks to Bun or reads the environment', async () => {
  const bun = ({ text }: Source) => /\bBun[.[]|\bprocess\.env\b/.test(text) || importsIn(text).some((target) => /^bun(:|$)/.test(target))
  const found = (await sources()).filter((file) => file.path !== ENTRY && bun(file)).map(({ path }) => path)
  expect(found).toEqual([])
})

test("of Node's modules nothing is imported that is not in the list", async () => {
  const found = (await sources())
    .filter(({ path }) => path.startsWith('src/') && path !== ENTRY)
    .map(({ path, text }) => [path, nodeModules(text)] as const)
    .filter(([, modules]) => modules.length > 0)
  expect(Object.fromEntries(found)).toEqual(NODE)
})

test('what serves requests reads files in one place, and asks the process for its memory only', async () => {
  const reached = reachedFrom(['src/app.ts', 'src/services.ts'], await sources())
  expect(reached.length).toBeGreaterThan(100)
  expect([...new Set(reached.flatMap(({ text }) => nodeModules(text)))].toSorted()).toEqual(SERVED)
  expect(reached.filter(({ text }) => nodeModules(text).includes('node:fs')).map(({ path }) => path)).toEqual([READS_FILES])
  expect(reached.flatMap(({ path, text }) => (text.match(/\bprocess\.\w+/g) ?? []).map((use) => `${path} ${use}`))).toEqual([
    'src/doors/meta.ts process.memoryUsage',
  ])
})
