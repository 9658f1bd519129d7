// Builds what others load, when one of its sources is newer. For browsers: public/app.css with Tailwind, public/app.js from public/main.js
// and all that it imports, and public/built/ from the scripts and styles that only some pages load. public/client.mjs, the program `parley`,
// from src/client/main.ts likewise, and beside it the licences of the libraries in it. A few milliseconds when nothing has changed.
//   bun components/styles.ts [--force]
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { licencesIn } from './licences.ts'
import { SCRIPTS } from './scripts.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

interface Build {
  /** What is made, by its name in the folder that the command writes to. */
  outputs: Readonly<Record<string, string>>
  sources: [folder: string, names: RegExp][]
  /** The arguments with which Bun writes to a folder. */
  command: (folder: string) => string[]
  /** Makes more of what the command has written, in the same folder. */
  afterwards?: (folder: string) => void
}

const STYLES: Build = {
  outputs: { 'app.css': 'public/app.css' },
  sources: [
    ['components', /\.(tsx|ts|css)$/],
    ['src/pages', /\.tsx$/],
  ],
  command: (folder) => [tailwind(), '--input', 'components/app.css', '--output', `${folder}/app.css`, '--minify'],
}
// Styles that only the pages of boards and records load.
const BOARD_STYLES: Build = {
  outputs: { 'board.css': 'public/built/board.css' },
  sources: [['components', /^(board|records)\.css$/]],
  command: (folder) => [tailwind(), '--input', 'components/board.css', '--output', `${folder}/board.css`, '--minify'],
}
const FOR_PAGES: Build = {
  outputs: { 'main.js': 'public/app.js', ...Object.fromEntries(SCRIPTS.map((name) => [name, `public/built/${name}`])) },
  sources: [['public', /^(?!app\.js$|built\/).*\.js$/]],
  command: (folder) => [
    'build',
    ...['main.js', ...SCRIPTS].map((name) => `public/${name}`),
    '--root=public',
    '--minify',
    '--target=browser',
    '--format=iife',
    `--outdir=${folder}`,
  ],
}
const CLIENT: Build = {
  outputs: { 'client.mjs': 'public/client.mjs', 'client.LICENSES.txt': 'public/client.LICENSES.txt' }, // those who load it may pass it on
  sources: [
    ['src/client', /\.ts$/],
    ['src/core', /\.ts$/],
    ['src/transcripts', /\.ts$/],
  ],
  // A library's ES modules, where it has them: Bun leaves the `require` of others as it is.
  command: (folder) => [
    'build',
    'src/client/main.ts',
    ...['module', 'main'].map((field) => `--main-fields=${field}`),
    '--minify',
    '--target=node',
    `--outfile=${folder}/client.mjs`,
    `--metafile=${folder}/client.json`,
  ],
  afterwards: (folder) => writeFileSync(join(folder, 'client.LICENSES.txt'), licencesIn(join(folder, 'client.json'), ROOT)),
}
const VERSIONS = ['package.json', 'bun.lock'] // another version of a tool or a library has another result

const main = () => {
  for (const each of [FOR_PAGES, STYLES, BOARD_STYLES, CLIENT]) if (process.argv.includes('--force') || isOutdated(each)) build(each)
}

const isOutdated = ({ outputs, sources }: Build): boolean => {
  const files = sources.flatMap(([folder, names]) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => names.test(name))
      .map((name) => join(folder, name)),
  )
  return Math.min(...Object.values(outputs).map(changedAt)) <= Math.max(...[...VERSIONS, ...files].map(changedAt))
}

const changedAt = (path: string): number => statSync(join(ROOT, path), { throwIfNoEntry: false })?.mtimeMs ?? 0

// Writes to a folder of its own first: two builds at once, or a build that is stopped half-way, leave no broken output.
const build = ({ outputs, command, afterwards }: Build) => {
  const began = performance.now()
  const made = Object.values(outputs)
  mkdirSync(join(ROOT, 'public/built'), { recursive: true })
  const folder = mkdtempSync(join(ROOT, 'public/built/fresh-'))
  try {
    const { status, stderr, error } = spawnSync(process.execPath, command(folder), { cwd: ROOT, encoding: 'utf8', timeout: 60_000 })
    if (status !== 0) {
      process.exitCode = 1
      return console.error(`${made.join(', ')} could not be built:\n${error?.message ?? stderr}`)
    }
    afterwards?.(folder)
    for (const [name, output] of Object.entries(outputs)) renameSync(join(folder, name), join(ROOT, output))
  } finally {
    rmSync(folder, { recursive: true })
  }
  const bytes = made.reduce((sum, path) => sum + statSync(join(ROOT, path)).size, 0)
  console.log(`${made.join(', ')}: ${Math.round(bytes / 1024)} KB in ${Math.round(performance.now() - began)} ms`)
}

const tailwind = (): string => {
  const manifest = createRequire(import.meta.url).resolve('@tailwindcss/cli/package.json')
  return join(dirname(manifest), 'dist/index.mjs')
}

main()
