// The image cannot be built here: what its file says is held to what the program does.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readConfig } from '../src/config.ts'
import { freePort } from './support/server.ts'
import { serveSite, type Site } from './support/site.ts'

const lines = readFileSync('Dockerfile', 'utf8').split('\n')
const said = (word: string) => lines.find((line) => line.startsWith(`${word} `))?.slice(word.length + 1) ?? ''
const placeOf = (word: string) => lines.findIndex((line) => line.startsWith(`${word} `))

let server: Site
beforeAll(async () => void (server = await serveSite()))
afterAll(() => server?.stop())

test('it runs as a user without rights, to whom all of it belongs, and its volume is where the database is', () => {
  const user = said('USER')
  expect(user).toMatch(/^(?!root|0)\w+$/)
  expect(placeOf('USER')).toBeLessThan(Math.min(placeOf('COPY'), placeOf('CMD')))
  expect(said('COPY')).toContain(`--chown=${user}:`)
  expect(said('VOLUME')).toBe(join(said('WORKDIR'), readConfig({}).DATA_DIR))
})

test('its health check passes where the server answers, and fails where none does', async () => {
  const [program, ...args] = JSON.parse(/CMD (\[.*\])$/.exec(said('HEALTHCHECK'))![1]!) as string[]
  expect(program).toBe('bun')
  const check = (port: number) =>
    Bun.spawn([process.execPath, ...args], { env: { PORT: String(port), HTTP_PROXY: 'http://127.0.0.1:1' } }).exited
  expect(await check(server.port)).toBe(0)
  expect(await check(await freePort())).toBe(1)
})
