// `bun run start` twice at once in a fresh checkout: with nothing installed and nothing built, both come up.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { FULL, shortOf } from '../support/full.ts'
import { until } from './rooms.ts'

const ROOT = join(import.meta.dir, '../..')
const STARTS = FULL ? 3 : 2

let checkout: string
beforeAll(() => {
  checkout = mkdtempSync(join(tmpdir(), 'parley-checkout-'))
  const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], { cwd: ROOT, encoding: 'utf8' }).split('\0')
  for (const file of files.filter((name) => name && !/^(tests|bench)\//.test(name))) {
    mkdirSync(dirname(join(checkout, file)), { recursive: true })
    cpSync(join(ROOT, file), join(checkout, file))
  }
}, 180_000)
afterAll(() => rmSync(checkout, { recursive: true, force: true }))

const { PATH = '', HOME = '' } = process.env
const start = (printed: string[], environment: Record<string, string> = {}): ChildProcess => {
  const child = spawn(process.execPath, ['run', 'start'], {
    cwd: checkout,
    env: { PATH, HOME, PORT: '0', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true, // a group of its own: the script's shell and the server end together
  })
  for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (chunk: Buffer) => printed.push(chunk.toString()))
  return child
}
const end = (child: ChildProcess) => {
  try {
    process.kill(-child.pid!, 'SIGKILL')
  } catch {} // it has ended
}

test.skipIf(!FULL)(
  'starts at once in a fresh checkout all serve',
  async () => {
    const printed = Array.from({ length: STARTS }, () => [] as string[])
    const children = printed.map((lines, n) => start(lines, { DATA_DIR: join(checkout, `data-${n}`) }))
    const urlOf = (lines: string[]) => /Parley is open at (\S+)/.exec(lines.join(''))?.[1]
    try {
      const settled = (lines: string[], n: number) => urlOf(lines) !== undefined || children[n]!.exitCode !== null
      await until('each serves or has ended', 240_000, () => printed.every(settled))
      for (const lines of printed) {
        expect(lines.join('')).toContain('Parley is open at')
        const url = urlOf(lines)!
        expect((await fetch(`${url}/healthz`)).status).toBe(200)
        const page = await (await fetch(url)).text()
        const styles = /href="([^"]*app[^"]*\.css[^"]*)"/.exec(page)![1]!
        expect((await (await fetch(new URL(styles, url))).text()).length).toBeGreaterThan(10_000)
      }
    } finally {
      for (const child of children) end(child)
    }
  },
  300_000,
)

const UNMADE: [string, string, string, string][] = [
  ['packages', 'bun.lock', 'The packages could not be installed:', 'lockfile'],
  ['styles', 'components/app.css', 'public/app.css could not be built:', 'nowhere-to-be-found'],
]

test.each(shortOf(UNMADE, 1))(
  '%s that cannot be made end the start with the reason',
  (_, file, sentence, reason) => {
    writeFileSync(join(checkout, file), "@plugin 'nowhere-to-be-found';\n")
    const options = { cwd: checkout, env: { PATH, HOME, PORT: '0' }, encoding: 'utf8', timeout: 170_000 } as const
    const { status, stdout, stderr } = spawnSync(process.execPath, ['run', 'start'], options)
    cpSync(join(ROOT, file), join(checkout, file))
    expect(status).toBe(1)
    expect(`${stdout}${stderr}`).toContain(sentence)
    expect(`${stdout}${stderr}`).toContain(reason)
  },
  180_000,
)
