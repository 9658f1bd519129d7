// Builds public/app.css with Tailwind when something it is made of is newer; a few milliseconds when nothing is.
//   bun components/styles.ts [--force]
import { spawnSync } from 'node:child_process'
import { readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const OUTPUT = join(ROOT, 'public/app.css')
const SOURCES: [folder: string, names: RegExp][] = [
  ['components', /\.(tsx|ts|css)$/],
  ['src/doors', /\.tsx$/],
]
const VERSIONS = ['package.json', 'bun.lock'] // another Tailwind makes other styles

const main = () => {
  if (!process.argv.includes('--force') && changedAt(OUTPUT) > newestSource()) return
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
  return Math.max(...[...files, ...VERSIONS.map((name) => join(ROOT, name))].map(changedAt))
}

// Into a file of its own first: two that start together, or one that is stopped half-way, leave no broken styles.
const build = () => {
  const fresh = `${OUTPUT}.${process.pid}`
  const args = [tailwind(), '--input', join(ROOT, 'components/app.css'), '--output', fresh, '--minify']
  const { status, stderr, error } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8', timeout: 60_000 })
  if (status === 0) return renameSync(fresh, OUTPUT)
  rmSync(fresh, { force: true })
  console.error(`The styles could not be built:\n${error?.message ?? stderr}`)
  process.exit(1)
}

const tailwind = (): string => {
  const manifest = createRequire(import.meta.url).resolve('@tailwindcss/cli/package.json')
  return join(dirname(manifest), 'dist/index.mjs')
}

main()
