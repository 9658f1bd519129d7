// What a newcomer reads first, held to what it promises: README's first screen and its ten words, its map and its links, one meaning for a
// word, and the version.
import { expect, test } from 'bun:test'
import { Glob } from 'bun'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import manifest from '../package.json' with { type: 'json' }

const read = (path: string) => readFileSync(path, 'utf8')
const filesOf = (pattern: string) => [...new Glob(pattern).scanSync('.')]
const README = read('README.md')
const FIRST_SCREEN = 52 // lines: the paragraph, two commands, two ways in, ten words
const WORDS = ['session', 'team', 'person', 'convener', 'document, conclusion', 'item', 'proposal, record', 'driven agent', 'task', 'key']

const sectionOf = (heading: string) => README.split(/^(?=##? )/m).filter((section) => section.startsWith(`${heading}\n`))

test('the README opens with the two commands, the two ways in, and the ten words', () => {
  expect(/^```(\w+)\n([^]*?)^```/m.exec(README)![2]).toMatch(/^bun run start .*\nbun run test .*\n$/)
  const headings = README.split('\n').slice(0, FIRST_SCREEN).filter((line) => line.startsWith('#')) // prettier-ignore
  expect(headings).toEqual(['# Parley', '## Meet', '## Drive', '## Ten words'])
})

test('each of the ten words is said once what it means', () => {
  const [words, ...more] = sectionOf('## Ten words')
  expect(more).toEqual([])
  const rows = [...words!.matchAll(/^\| (.+) \| \S.+ \|$/gm)].map(([, word]) => word!)
  expect(rows.slice(1).filter((word) => word !== '---')).toEqual(WORDS)
})

test('the map of the README has each folder of src/ and those within, and nothing that does not exist', () => {
  const map = /## How it is built[^]*?```\n([^]*?)```/.exec(README)![1]!
  const paths = map.split('\n').flatMap((line) => /^\S+/.exec(line)?.[0] ?? [])
  expect(paths.filter((path) => !existsSync(path))).toEqual([])
  const folders = readdirSync('src', { withFileTypes: true }).filter((entry) => entry.isDirectory())
  expect(folders.map(({ name }) => `src/${name}/`).filter((path) => !paths.includes(path))).toEqual([])
  const said = new Map(map.split(/^(?=\S)/m).map((entry) => [/^\S+/.exec(entry)![0], entry]))
  const within = new Set(filesOf('src/*/*/**').map((path) => path.split('/').slice(1, 3).join('/')))
  const unnamed = [...within].filter((path) => {
    const [folder, inside] = path.split('/')
    return inside !== 'guides' && !said.get(`src/${folder}/`)?.includes(`${inside}/`)
  })
  expect(unnamed).toEqual([])
})

const commentsIn = (text: string) => [...text.matchAll(/\/\*[^]*?\*\/|(?<=^|\s)\/\/.*$/gm)].map(([comment]) => comment)

// `rooms/who-may.ts` may leave out `src/`, and a script's path `public/`; a bare name is a file of any folder. What a build makes is named too.
const PATH_IN_COMMENT = /(?<![\w~$./{}<*:`-])((?:[\w-]+\/)*[\w.-]+\.(?:tsx?|css)|(?:[\w-]+\/)+[\w.-]+\.(?:m?js|md|sql))\b/g
const linesOf = (path: string) =>
  read(path)
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
const BUILT = linesOf('.gitignore')
const isSource = (path: string) => !BUILT.some((built) => `/${path}`.startsWith(built))

test('each file that a comment cites is there', () => {
  const files = filesOf('{src,components,db,public}/**/*.{ts,tsx,js,css}').filter(isSource)
  const names = new Set([...files, ...filesOf('{tests,bench}/**/*.ts')].map((path) => path.split('/').at(-1)!))
  const isThere = (cited: string) =>
    cited.includes('/')
      ? ['', 'src/', 'public/'].some((folder) => existsSync(folder + cited)) || BUILT.includes(`/${cited}`)
      : names.has(cited)
  const cited = files.flatMap((path) =>
    commentsIn(read(path)).flatMap((comment) => [...comment.matchAll(PATH_IN_COMMENT)].map(([target]) => ({ path, target }))),
  )
  expect(cited.length).toBeGreaterThan(150)
  expect(cited.filter(({ target }) => !isThere(target))).toEqual([])
})

// By name: each of these has a credential in it, or a whole database.
const LEFT = [/\bbun run backup (\S+)/g, /\bDATA_DIR=(?:\.\/)?([a-z]\S*)/g, /--file=(\S+)/g, /\btee (\S+)/g, /\bcp -aL data (\w+)/g]

test('what the commands of the README leave in the checkout goes neither into git nor into the image', () => {
  const code = [...README.matchAll(/```sh\n([^]*?)```|`([^`\n]+)`/g)].map(([, block, span]) => block ?? span!).join('\n')
  const left = LEFT.map((pattern) => [...new Set([...code.matchAll(pattern)].map(([, name]) => name!))])
  expect(left.every((names) => names.length > 0)).toBe(true)
  for (const path of ['.gitignore', '.dockerignore']) {
    const ignored = linesOf(path).map((line) => new Glob(line.replace(/^\/|\/$/g, '')))
    const names = [...left.flat(), 'parley.tgz.a1B2c3'] // where a backup is made
    expect([path, ...names.filter((name) => !ignored.some((glob) => glob.match(name.split('/')[0]!)))]).toEqual([path])
  }
})

test('a heading that is linked to, or cited by its name, is there', () => {
  const headings = [...README.matchAll(/^#+ (.+)$/gm)].map(([, heading]) => heading!)
  const anchors = headings.map((heading) => heading.toLowerCase().replaceAll(' ', '-'))
  expect([...README.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor]) => anchor!).filter((anchor) => !anchors.includes(anchor))).toEqual([])
  const citing = ['SECURITY.md', 'CHANGELOG.md', ...filesOf('{src,components,tests}/**/*.{ts,tsx,md}')]
  const cited = citing.flatMap((path) => [...read(path).matchAll(/\bREADME, "([A-Z][^"]+)"/g)].map(([, heading]) => heading!))
  expect(cited).not.toEqual([])
  expect(cited.filter((heading) => !headings.includes(heading))).toEqual([])
})

test('the newest version of the changelog is that of the package', () => {
  expect(/^## (.+)$/m.exec(read('CHANGELOG.md'))![1]).toBe(manifest.version)
})

// What was said before, and why it is not said any more.
const SAID_BEFORE: [RegExp, string][] = [
  [/\b(ask|want|need|wait|request|question)(s|ed)? (for )?(somebody's )?leave\b|\bleave (for|that agents|that a person|is asked)\b/i, 'a team leaves; an agent asks for permission'],
  [/[a-z]Leave\b|\bleaveOf\b/, 'a team leaves; an agent asks for permission'],
  [/\b(idle (agent|claude|codex)|agents? (is|are) idle)\b/i, 'a team or a session is idle; a driven agent is ready, another one has ended its turn'],
  [/\b(hard|big|whole) tasks?\b/i, 'a task is one prompt to a driven agent; teams divide work'],
  [/\bclient program\b/i, 'a client is Claude Code and the like; the program is `parley`'],
  [/\byour (own )?person\b/i, 'a person is signed in; whom an agent works for is its user'],
  [/\bwritten record\b/i, 'a record is what a person approved'],
  [/\b(edit|drop|take) the work\b/i, 'what stands on the board is an item'],
] // prettier-ignore

test('no word means two things: neither where people and agents read it, nor in code, comments and tests', () => {
  const pages = ['README.md', 'AGENTS.md', 'CHANGELOG.md', 'SECURITY.md', ...filesOf('src/*/guides/*.md')]
  const tests = filesOf('tests/**/*.ts').filter((path) => path !== 'tests/words.test.ts') // which has them in its list
  const texts = [...pages, ...filesOf('{src,components,db}/**/*.{ts,tsx}'), ...filesOf('public/**/*.js').filter(isSource), ...tests]
  expect(texts.length).toBeGreaterThan(700)
  for (const path of texts) {
    const text = read(path)
    for (const [before, why] of SAID_BEFORE) expect(before.exec(text)?.[0], `${path}: ${why}`).toBeUndefined()
  }
})

const withoutComments = (code: string) => code.replace(/\/\*[^]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '')

test('a driven agent is called ready, never idle', () => {
  const saying = filesOf('components/agents/*.{ts,tsx}').filter((path) => /\bidle\b/i.test(withoutComments(read(path))))
  expect(saying).toEqual([])
})
