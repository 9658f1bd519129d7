// Builds what browsers load when something it is made of is newer; a few milliseconds when nothing is: public/app.css with Tailwind,
// and public/app.js from htmx, its extension for streams and our own scripts, one after the other.
//   bun components/styles.ts [--force]
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const OUTPUT = join(ROOT, 'public/app.css')
const SCRIPT = join(ROOT, 'public/app.js')
const OWN_SCRIPTS = [
  'public/parley.js',
  'public/theme.js',
  'public/tabs.js',
  'public/live.js',
  'public/trace.js',
  'public/home.js',
  'public/settings.js',
  'public/acts.js',
  'public/dialog.js',
]
const SOURCES: [folder: string, names: RegExp][] = [
  ['components', /\.(tsx|ts|css)$/],
  ['src/pages', /\.tsx$/],
]
const VERSIONS = ['package.json', 'bun.lock'] // another Tailwind makes other styles

const main = () => {
  const force = process.argv.includes('--force')
  if (force || changedAt(SCRIPT) <= newestOf([...VERSIONS, ...OWN_SCRIPTS, ...partsOf('public/live')])) buildScript()
  if (!force && changedAt(OUTPUT) > newestSource()) return
  const began = performance.now()
  build()
  console.log(`Styles: public/app.css, ${Math.round(statSync(OUTPUT).size / 1024)} KB in ${Math.round(performance.now() - began)} ms`)
}

const changedAt = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0

const newestSource = (): number => {
  const files = SOURCES.flatMap(([folder, names]) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => names.test(name))
      .map((name) => join(ROOT, folder, name)),
  )
  return Math.max(newestOf(VERSIONS), ...files.map(changedAt))
}

const partsOf = (folder: string) => readdirSync(join(ROOT, folder)).map((name) => join(folder, name)) // what a script imports

const newestOf = (names: string[]) => Math.max(...names.map((name) => changedAt(join(ROOT, name))))

const buildScript = () => {
  const { resolve } = createRequire(import.meta.url)
  const others = ['htmx.org/dist/htmx.min.js', 'htmx.org/dist/ext/hx-sse.min.js'].map((name) => readFileSync(resolve(name), 'utf8'))
  const parts = others.map((text) => text.replace(/^\/\/# sourceMappingURL=.*$/m, ''))
  const fresh = `${SCRIPT}.${process.pid}`
  writeFileSync(fresh, [...parts, ...OWN_SCRIPTS.map(minified)].join('\n'))
  renameSync(fresh, SCRIPT)
}

const minified = (name: string): string => {
  const args = ['build', '--minify', '--target=browser', '--format=iife', join(ROOT, name)]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8', timeout: 60_000 })
  if (status === 0) return stdout
  console.error(`${name} could not be built:\n${stderr}`)
  process.exit(1)
}

// Into a file of its own first: two that start together, or one that is stopped half-way, leave no broken styles.
const build = () => {
  const fresh = `${OUTPUT}.${process.pid}`
  const args = [tailwind(), '--input', join(ROOT, 'components/app.css'), '--output', fresh, '--minify']
  const { status, stderr, error } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8', timeout: 60_000 })
  if (status === 0) {
    writeFileSync(fresh, withoutUnused(readFileSync(fresh, 'utf8')))
    return renameSync(fresh, OUTPUT)
  }
  rmSync(fresh, { force: true })
  console.error(`The styles could not be built:\n${error?.message ?? stderr}`)
  process.exit(1)
}

// Of the typography plugin's styles (0.5), which know no choice: those of what markdown/render.ts never writes, the way out of them, which
// nothing takes, and its colours, since app.css has others. A KiB of each first visit.
const NEVER_WRITTEN = 'img|picture|video|kbd|figure|figcaption|dl|dt|dd|tfoot'
const WAY_OUT = ':not(:where([class~=not-prose],[class~=not-prose] *))'
const UNUSED = `\\.prose(?:-sm)? :where\\((?:[^),]*\\b(?:${NEVER_WRITTEN})\\b[^),]*|\\[class~=lead\\]|ol\\[type[^)]*)\\)[^,{}]*`
const UNUSED_RULE = new RegExp(`(?<=[{}])${UNUSED}(?:,${UNUSED})*{[^}]*}`, 'g')

const ITS_COLOUR = /--tw-prose-[a-z-]+:(?!var\()[^;}]+;?/g

// Browsers that know oklch(), without which no page here has a colour, know color-mix() too: no condition, and nothing for others.
const CONDITION = /@supports \(color:color-mix\(in lab, red, red\)\)\{((?:[^{}]*\{[^{}]*\})+)\}/g
const FOR_OTHERS = /(?<=[{}])([^{}]+)\{([\w-]+):[^;{}]*\}(?=\1\{\2:color-mix)/g

const withoutUnused = (css: string): string =>
  css.replaceAll(WAY_OUT, '').replace(UNUSED_RULE, '').replace(ITS_COLOUR, '').replace(CONDITION, '$1').replace(FOR_OTHERS, '')

const tailwind = (): string => {
  const manifest = createRequire(import.meta.url).resolve('@tailwindcss/cli/package.json')
  return join(dirname(manifest), 'dist/index.mjs')
}

main()
