import { describe, expect, test } from 'bun:test'
import { Glob } from 'bun'
import { isBuiltin } from 'node:module'

// What each part may import, apart from itself, in the order of the layers: nothing flows backwards (README, "How it is built"). A file
// beside the folders of src/ is a part of its own, and there are no more of them than these.
const MAY: Record<string, string[]> = {
  core: [],
  db: ['core'],
  'config.ts': [],
  'markdown-files.d.ts': [],
  markdown: ['core'],
  transcripts: ['core'],
  client: ['core', 'transcripts'],
  components: ['core', 'markdown'],
  stores: ['core', 'db'],
  search: ['core', 'db', 'stores'],
  loops: ['core', 'db', 'stores', 'config.ts'],
  log: ['core', 'db', 'stores'],
  notices: ['core', 'db', 'stores'],
  process: ['core', 'db', 'stores', 'search', 'loops', 'log', 'notices', 'config.ts'],
  operations: ['core', 'db', 'stores', 'log', 'process'],
  import: ['core', 'db', 'transcripts', 'stores', 'process'],
  rooms: ['core', 'db', 'markdown', 'stores', 'loops', 'log', 'notices', 'process', 'operations'],
  history: ['core', 'db', 'markdown', 'stores', 'search', 'operations'],
  control: ['core', 'db', 'transcripts', 'stores', 'log', 'notices', 'process', 'operations', 'rooms'],
  records: ['core', 'db', 'markdown', 'stores', 'log', 'notices', 'process', 'operations', 'rooms'],
  board: ['core', 'db', 'stores', 'log', 'process', 'operations', 'rooms', 'records'],
  'toolsets.ts': ['core', 'operations', 'rooms', 'control', 'history', 'records', 'board'],
  doors: ['core', 'db', 'stores', 'log', 'notices', 'process', 'operations', 'import', 'rooms', 'control'],
  pages: [
    'core',
    'db',
    'markdown',
    'components',
    'stores',
    'loops',
    'log',
    'notices',
    'process',
    'operations',
    'rooms',
    'history',
    'control',
    'records',
    'board',
    'doors',
    'config.ts',
  ],
  'app.ts': ['core', 'db', 'process', 'operations', 'doors', 'pages', 'toolsets.ts', 'config.ts'],
  cli: ['core', 'client', 'db', 'process', 'operations', 'import', 'toolsets.ts', 'control', 'doors', 'config.ts'],
  'server.ts': ['core', 'client', 'db', 'notices', 'process', 'doors', 'app.ts', 'cli', 'config.ts'],
}
const ENTRY = 'src/server.ts'
const ENTRIES = [ENTRY, 'src/client/main.ts'] // these may read the environment; the client's runs under Node too

// What of Node's is used where in src/, the entry and the program `parley` (src/client/) aside: that one is for Node. A runtime that lacks
// one of these cannot serve what imports it.
const NODE: Record<string, string[]> = {
  'src/cli/backup.ts': ['node:fs', 'node:path', 'node:stream/promises', 'node:zlib'],
  'src/cli/install.ts': ['node:child_process', 'node:fs', 'node:path', 'node:timers/promises'],
  'src/core/ids.ts': ['node:crypto'],
  'src/notices/push-sender.ts': ['node:dns/promises', 'node:https'],
  'src/doors/rest/client-package.ts': ['node:crypto', 'node:zlib'],
  'src/pages/assets.ts': ['node:crypto'],
  'src/pages/compress.ts': ['node:util', 'node:zlib'],
  'src/cli/runner.ts': ['node:path'],
  'src/cli/words.ts': ['node:util'],
  'src/import/source.ts': ['node:crypto', 'node:fs', 'node:path'],
}
// Of these, what a request can reach.
const SERVED = ['node:crypto', 'node:fs', 'node:path', 'node:util', 'node:zlib']
const READS_FILES = 'src/import/source.ts'
const MOST_LINES = 250 // README, "How it is built"

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

test('the kernel knows no wing, not even by what it keeps or by the name of a tool', async () => {
  const kernel = (await sources()).filter(({ path }) => path.startsWith('src/operations/'))
  expect(kernel.length).toBeGreaterThan(10)
  const naming = kernel.flatMap(({ path, text }) =>
    (text.match(/stores\/(?:control|records)\/|\b(?:control|board|records|history)_[\w$]+/g) ?? []).map((name) => `${path} ${name}`),
  )
  expect(naming).toEqual([])
})

/** The files that import each other in a circle, types included: each circle once, as the path from file to file. */
const circlesIn = (files: Source[]): string[] => {
  const known = new Set(files.map(({ path }) => path))
  const imported = new Map(
    files.map(({ path, text }) => [
      path,
      importsIn(text)
        .filter((target) => target.startsWith('.'))
        .map((target) => fileOf(target, path))
        .filter((target) => known.has(target)),
    ]),
  )
  const circles: string[] = []
  const done = new Set<string>()
  const visit = (path: string, above: string[]) => {
    if (above.includes(path)) circles.push([...above.slice(above.indexOf(path)), path].join(' → '))
    if (above.includes(path) || done.has(path)) return
    for (const target of imported.get(path)!) visit(target, [...above, path])
    done.add(path)
  }
  for (const path of known) visit(path, [])
  return circles
}

test('no files import each other in a circle, not even for a type', async () => {
  expect(circlesIn(await sources())).toEqual([])
  const [a, b] = ["import type { B } from './b.ts'", "import { a } from './a.ts'"]
  const made = [
    { path: 'src/core/a.ts', text: a },
    { path: 'src/core/b.ts', text: b },
  ]
  expect(circlesIn(made)).toEqual(['src/core/a.ts → src/core/b.ts → src/core/a.ts'])
})

test(`no file has more than ${MOST_LINES} lines`, async () => {
  const linesOf = ({ path, text }: Source) => ({ path, lines: text.trimEnd().split('\n').length })
  expect((await sources()).map(linesOf).filter(({ lines }) => lines > MOST_LINES)).toEqual([])
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
          ? [`${part}/made-up.ts`, '../src/server.ts']
          : part.endsWith('.ts')
            ? [`src/${part}`, part === 'server.ts' ? './rooms/made-up.ts' : './server.ts']
            : [`src/${part}/folder/made-up.ts`, '../../server.ts']
      for (const way of WAYS) expect(wrongImports([{ path, text: way.replace('OUT', out) }])).toEqual([`${path} imports ${out}`])
    })

  test('in a part that the table does not know', () => {
    expect(wrongImports([{ path: 'src/made-up.ts', text: '' }])).toEqual(['src/made-up.ts is in no row of the table'])
  })
})

test('only the entry speaks to Bun or reads the environment', async () => {
  const bun = ({ text }: Source) => /\bBun[.[]|\bprocess\.env\b/.test(text) || importsIn(text).some((target) => /^bun(:|$)/.test(target))
  const found = (await sources()).filter((file) => !ENTRIES.includes(file.path) && bun(file)).map(({ path }) => path)
  expect(found).toEqual([])
})

test("of Node's modules nothing is imported that is not in the list", async () => {
  const found = (await sources())
    .filter(({ path }) => path.startsWith('src/') && !path.startsWith('src/client/') && path !== ENTRY)
    .map(({ path, text }) => [path, nodeModules(text)] as const)
    .filter(([, modules]) => modules.length > 0)
  expect(Object.fromEntries(found)).toEqual(NODE)
})

test('what serves requests reads files in one place, and asks the process for its memory only', async () => {
  const reached = reachedFrom(['src/app.ts', 'src/process/services.ts'], await sources())
  expect(reached.length).toBeGreaterThan(100)
  expect([...new Set(reached.flatMap(({ text }) => nodeModules(text)))].toSorted()).toEqual(SERVED)
  expect(reached.filter(({ text }) => nodeModules(text).includes('node:fs')).map(({ path }) => path)).toEqual([READS_FILES])
  expect(reached.flatMap(({ path, text }) => (text.match(/\bprocess\.\w+/g) ?? []).map((use) => `${path} ${use}`))).toEqual([
    'src/process/status/figures.ts process.memoryUsage',
  ])
})
