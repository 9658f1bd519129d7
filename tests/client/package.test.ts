import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { programPath, readClientProgram, type ClientProgram } from '../../src/doors/rest/client-package.ts'
import { startParley, type Parley, type Sending } from '../support/parley.ts'
import { buildPublic } from '../support/built.ts'
import { newHome } from '../support/client.ts'
import { startHub, type Hub } from '../support/hub.ts'
import { asset } from '../support/site.ts'

const ROOT = join(import.meta.dir, '../..')
const MOST_BYTES = 300 * 1024 // issue 20: 120 KiB without the runner, 300 with it

let parley: Parley
let program: ClientProgram
let path: string

beforeAll(async () => {
  buildPublic()
  program = (await readClientProgram(asset))!
  path = programPath(program)
  parley = await startParley()
}, 120_000)
afterAll(() => parley.close())

const serving = async (env: Record<string, string> = {}) => {
  const served = await parley.beside(env, { program })
  return async (at: string, sending: Sending = {}) => served.send(at, sending)
}

const unpacked = async (response: Response) => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-package-'))
  writeFileSync(join(folder, 'p.tgz'), new Uint8Array(await response.arrayBuffer()))
  const tar = Bun.spawnSync(['tar', '-xzvf', 'p.tgz'], { cwd: folder })
  expect(tar.exitCode).toBe(0)
  const about = JSON.parse(readFileSync(join(folder, 'package/package.json'), 'utf8'))
  const bytes = readFileSync(join(folder, 'package/parley.mjs'))
  const licences = readFileSync(join(folder, 'package/LICENSES.txt'), 'utf8')
  rmSync(folder, { recursive: true })
  return { files: tar.stdout.toString().trim().split('\n'), about, bytes, licences }
}

test('the package has the program and nothing to install or to run on installing, and stays small', async () => {
  const { files, about, bytes, licences } = await unpacked(await (await serving())(path))
  expect(files).toEqual(['package/package.json', 'package/parley.mjs', 'package/LICENSES.txt'])
  expect(about).toMatchObject({ name: 'parley', version: program.version, bin: { parley: 'parley.mjs' } })
  expect(Object.keys(about).filter((key) => /dependencies|scripts/i.test(key))).toEqual([])
  expect(bytes.equals(program.bytes)).toBe(true)
  expect(bytes.length + licences.length + JSON.stringify(about).length).toBeLessThan(MOST_BYTES)
  expect(bytes.toString().startsWith('#!/usr/bin/env node\n')).toBe(true)
})

test('every library that is bundled into the program has its licence there', async () => {
  const { licences } = await unpacked(await (await serving())(path))
  const bundled = await librariesOf('src/client/main.ts')
  expect(bundled.length).toBeGreaterThanOrEqual(3)
  for (const name of bundled) {
    const folder = join(ROOT, 'node_modules', name)
    const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each))!
    expect(licences).toContain(`${name} ${version} (`)
    expect(licences).toContain(readFileSync(join(folder, file), 'utf8').trim())
  }
})

// Followed from import to import, not asked of the bundler, whose word the package is built on.
const librariesOf = async (entry: string): Promise<string[]> => {
  const [seen, libraries] = [new Set([join(ROOT, entry)]), new Set<string>()]
  for (const file of seen) {
    const text = (await Bun.file(file).text()).replace(/^#!.*/, '')
    const imports = new Bun.Transpiler({ loader: 'ts' }).scanImports(text) // without those of types alone
    for (const { path: target } of imports) {
      if (target.startsWith('.')) seen.add(join(dirname(file), target))
      else if (!target.startsWith('node:')) libraries.add(/^(@[^/]+\/)?[^/]+/.exec(target)![0])
    }
  }
  return [...libraries].toSorted()
}

test('it names the hub that it was fetched from: the link in force', async () => {
  const send = await serving()
  const named = async (response: Response) => (await unpacked(response)).about.parley.link
  expect(await named(await send(path, { headers: { host: 'localhost:7423' } }))).toBe('http://localhost:7423/mcp')
  expect(await named(await send(path, { headers: { host: '127.0.0.1:7423' } }))).toBe('http://127.0.0.1:7423/mcp')
  const elsewhere = await serving({ MCP_URL: 'https://hub.example/parley/mcp' })
  expect(await named(await elsewhere(path))).toBe('https://hub.example/parley/mcp')
  const config: any = await (await elsewhere('/api/config')).json()
  expect(config.client).toBe(`https://hub.example/parley${path}`)
})

test('the same source gives the same bytes, and an ETag spares them', async () => {
  const [one, two] = await Promise.all([serving(), serving()])
  const [first, second] = [await one(path), await two(path)]
  expect(await first.arrayBuffer()).toEqual(await second.arrayBuffer())
  const etag = first.headers.get('etag')!
  expect((await one(path, { headers: { 'if-none-match': etag } })).status).toBe(304)
})

describe('it is open to whoever reaches the port', () => {
  for (const env of [{ ACCESS_TOKEN: 'a-token-of-some-length' }, { VIEWER_PASSWORD: 'a password' }] as Record<string, string>[])
    test(`with ${Object.keys(env)[0]}, which is not in it`, async () => {
      const response = await (await serving(env))(path)
      expect(response.status).toBe(200)
      const { bytes, about } = await unpacked(response)
      for (const secret of Object.values(env)) expect(bytes.toString() + JSON.stringify(about)).not.toContain(secret)
    })

  test('but not to a page of another site through a name that leads here', async () => {
    expect((await (await serving())(path, { headers: { host: 'evil.example' } })).status).toBe(403)
  })
})

test('another version is not there, and the answer names the one that is', async () => {
  const response = await (await serving())('/parley-0.0.1.tgz')
  const { error }: any = await response.json()
  expect([response.status, error.code, error.details.path]).toEqual([404, 'not_found', path])
  expect(error.message).toContain(path)
  expect((await (await serving())(path, { method: 'POST' })).status).toBe(405)
  expect((await parley.send('/parley-0.0.1.tgz')).status).toBe(404) // a server without the built program
})

test('/connect shows the line that connects, and so does the start', async () => {
  const page = await (await (await serving())('/connect', { headers: { accept: 'text/html' } })).text()
  expect(page).toContain(`npx -y http://127.0.0.1:7423${path} connect`)
})

describe('as a new user', () => {
  let hub: Hub
  beforeAll(async () => void (hub = await startHub()), 180_000)
  afterAll(() => hub.server.remove())

  test.skipIf(!Bun.which('npx'))(
    'npx runs the line that the start printed: a client is connected, without Bun',
    async () => {
      const [, url] = /npx -y (\S+) connect$/m.exec(hub.server.output())!
      const home = newHome(hub.link)
      const env = { PATH: process.env.PATH!, HOME: home.home, npm_config_update_notifier: 'false' }
      const npx = Bun.spawnSync(['npx', '-y', url!, 'connect', 'claude', '--yes'], { cwd: home.home, env })
      expect([npx.exitCode, npx.stdout.toString()]).toEqual([0, expect.stringContaining('connected')])
      expect(JSON.parse(home.read('.claude.json')!).mcpServers.parley.url).toBe(hub.link)
      const [, version] = /parley-(.+)\.tgz/.exec(url!)!
      expect(home.read(`.parley/${version}/LICENSES.txt`)).toContain('jsonc-parser')
      const [, command] = /"command": "([^"]+watch --hub [^"]+)"/.exec(home.read('.claude/settings.json')!)!
      expect(Bun.spawnSync(['/bin/sh', '-c', command!], { env, stdin: null }).exitCode).toBe(0)
      home.drop()
    },
    180_000,
  )
})
