// Builds what others load, when one of its sources is newer. For browsers: public/app.css with Tailwind, public/app.js from public/main.js and
// all that it imports, and public/built/ from the scripts that only some pages load. public/client.mjs, the program `parley`, from
// src/client/main.ts likewise, and beside it the licences of the libraries in it. A few milliseconds when nothing has changed.
//   bun components/styles.ts [--force]
import { spawnSync } from 'node:child_process'
import { readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { licencesIn } from './licences.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

interface Build {
  output: string
  /** The licences of what is bundled, in a file of their own: those who load the output may pass it on. */
  licences?: string
  sources: [folder: string, names: RegExp][]
  /** The arguments with which Bun writes the output to a file. */
  command: (file: string) => string[]
}

const STYLES: Build = {
  output: 'public/app.css',
  sources: [
    ['components', /\.(tsx|ts|css)$/],
    ['src/pages', /\.tsx$/],
  ],
  command: (file) => [tailwind(), '--input', 'components/app.css', '--output', file, '--minify'],
}
const SCRIPTS: Build = {
  output: 'public/app.js',
  sources: [['public', /^(?!app\.js$|built\/).*\.js$/]],
  command: (file) => ['build', 'public/main.js', '--minify', '--target=browser', '--format=iife', `--outfile=${file}`],
}
// What only some pages load, or a page only when it is wanted.
const PARTS = ['agents', 'approvals', 'cards', 'counted', 'dialog', 'home', 'push', 'settings', 'sides', 'trace'].map((name): Build => ({
  output: `public/built/${name}.js`,
  sources: [['public', new RegExp(`^(?:${name}|kept|live/typed)\\.js$`)]],
  command: (file) => ['build', `public/${name}.js`, '--minify', '--target=browser', '--format=iife', `--outfile=${file}`],
}))
const CLIENT: Build = {
  output: 'public/client.mjs',
  licences: 'public/client.LICENSES.txt',
  sources: [
    ['src/client', /\.ts$/],
    ['src/core', /\.ts$/],
    ['src/transcripts', /\.ts$/],
  ],
  // A library's ES modules, where it has them: Bun leaves the `require` of others as it is.
  command: (file) => [
    'build',
    'src/client/main.ts',
    ...['module', 'main'].map((field) => `--main-fields=${field}`),
    '--minify',
    '--target=node',
    `--outfile=${file}`,
    `--metafile=${metafileOf(file)}`,
  ],
}
const metafileOf = (file: string) => `${file}.json`
const VERSIONS = ['package.json', 'bun.lock'] // another version of a tool or a library has another result

const main = () => {
  for (const each of [SCRIPTS, ...PARTS, STYLES, CLIENT]) if (process.argv.includes('--force') || isOutdated(each)) build(each)
}

const isOutdated = ({ output, licences = output, sources }: Build): boolean => {
  const files = sources.flatMap(([folder, names]) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => names.test(name))
      .map((name) => join(folder, name)),
  )
  return Math.min(changedAt(output), changedAt(licences)) <= Math.max(...[...VERSIONS, ...files].map(changedAt))
}

const changedAt = (path: string): number => statSync(join(ROOT, path), { throwIfNoEntry: false })?.mtimeMs ?? 0

// Writes a file of its own first: two builds at once, or a build that is stopped half-way, leave no broken output.
const build = ({ output, licences, command }: Build) => {
  const began = performance.now()
  const fresh = `${output}.${process.pid}`
  const { status, stderr, error } = spawnSync(process.execPath, command(fresh), { cwd: ROOT, encoding: 'utf8', timeout: 60_000 })
  if (status !== 0) {
    rmSync(join(ROOT, fresh), { force: true })
    console.error(`${output} could not be built:\n${error?.message ?? stderr}`)
    process.exit(1)
  }
  if (licences) writeLicences(join(ROOT, licences), join(ROOT, metafileOf(fresh)))
  renameSync(join(ROOT, fresh), join(ROOT, output))
  console.log(`${output}: ${Math.round(statSync(join(ROOT, output)).size / 1024)} KB in ${Math.round(performance.now() - began)} ms`)
}

const writeLicences = (file: string, metafile: string) => {
  writeFileSync(`${file}.${process.pid}`, licencesIn(metafile, ROOT))
  renameSync(`${file}.${process.pid}`, file)
  rmSync(metafile)
}

const tailwind = (): string => {
  const manifest = createRequire(import.meta.url).resolve('@tailwindcss/cli/package.json')
  return join(dirname(manifest), 'dist/index.mjs')
}

main()
