// Settings files that cannot be written or removed: each is as it was then, or the person is told where its text lies.
import { afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { Stop } from '../../src/client/machine.ts'
import { changeAll } from '../../src/client/settings/change-all.ts'
import { buildPublic } from '../support/built.ts'
import { newHome, RUNTIME, type Home } from '../support/client.ts'
import { canMount, runWithMounts } from '../support/mounting.ts'

const HUB = 'http://127.0.0.1:9/mcp' // nothing listens there: settings are written all the same
const SETTINGS = '.gemini/settings.json'
let home: Home

// Runs the program where no file may be larger than so many blocks.
const runCramped = (blocks: number, command: string, env = {}) => {
  const line = `ulimit -f ${blocks}; trap '' XFSZ; exec ${RUNTIME} ${home.program} ${command} --yes`
  const { exitCode, stderr } = Bun.spawnSync(['/bin/sh', '-c', line], { env: { PATH: process.env.PATH, HOME: home.home, ...env } })
  return { code: exitCode, err: stderr.toString() }
}

beforeAll(buildPublic, 180_000)
afterEach(() => home?.drop())

describe.skipIf(!canMount)('a settings file that is mounted by itself', () => {
  const FULL_DISK =
    'mkdir disk && mount -t tmpfs -o size=64k tmpfs disk && cp mounted.json disk && { cat /dev/zero > disk/rest; true; } 2> /dev/null'
  const mounted = (file: string, command: string) => `mount --bind ${file} ${SETTINGS} && $PARLEY ${command} --yes`

  test('is written where it is', () => {
    home = newHome(HUB)
    for (const file of [SETTINGS, 'mounted.json']) home.write(file, '{}')
    expect(runWithMounts(home, mounted('mounted.json', 'connect gemini'))).toMatchObject({ code: 0 })
    expect(home.read('mounted.json')).toContain(HUB)
    expect(runWithMounts(home, mounted('mounted.json', 'disconnect gemini'))).toMatchObject({ code: 0 })
    expect([home.read('mounted.json'), readdirSync(home.path('.gemini'))]).toEqual(['{}', ['settings.json']])
  })

  test('stays, with nothing in it, where connect had made it', async () => {
    home = newHome(HUB)
    expect(await home.run(['connect', 'gemini', '--yes'])).toMatchObject({ code: 0 })
    expect(runWithMounts(home, mounted(SETTINGS, 'disconnect gemini'))).toMatchObject({ code: 0, err: '' })
    expect([home.read(SETTINGS), home.read('.parley/connections.json')]).toEqual(['{}\n', undefined])
  })

  test('is as it was when its disk is full', () => {
    home = newHome(HUB)
    const text = JSON.stringify({ note: 'x'.repeat(4_000) }) // as much as a page of the disk holds
    for (const file of [SETTINGS, 'mounted.json']) home.write(file, text)
    const { out, err } = runWithMounts(home, `${FULL_DISK}; ${mounted('disk/mounted.json', 'connect gemini')}; cat disk/mounted.json`)
    expect(err).toContain('the disk is full. Nothing in it has changed.')
    expect(out.endsWith(text)).toBe(true)
    expect(readdirSync(home.path('.gemini'))).toEqual(['settings.json'])
  })

  test('lies beside it when it can be written in part only, and not be put back', () => {
    home = newHome(HUB)
    for (const file of [SETTINGS, 'mounted.json']) home.write(file, '{}')
    const appendOnly = (flag: '+a' | '-a') => Bun.spawnSync(['chattr', flag, home.path('mounted.json')]).exitCode === 0
    if (!appendOnly('+a'))
      return console.log('Not tried: a file that can be appended to alone. This user may not make one, or its disk has none.')
    try {
      const { code, err } = runWithMounts(home, mounted('mounted.json', 'connect gemini'))
      const aside = readdirSync(home.path('.gemini')).find((name) => name.endsWith('.parley'))
      expect([code, err]).toEqual([1, expect.stringContaining(`What stood in it is in ${home.path(`.gemini/${aside}`)}: copy that back.`)])
      expect(home.read(`.gemini/${aside}`)).toBe('{}')
    } finally {
      appendOnly('-a')
    }
  })
})

test.skipIf(!canMount)('a settings file that cannot be removed: a sentence, and the next disconnect removes it', async () => {
  home = newHome(HUB)
  expect(await home.run(['connect', 'gemini', '--yes'])).toMatchObject({ code: 0 })
  const line = 'mount --bind .gemini .gemini && mount -o remount,bind,ro .gemini && $PARLEY disconnect gemini --yes'
  const { code, err } = runWithMounts(home, line)
  expect([code, err]).toEqual([1, `${home.path(SETTINGS)} could not be removed: its disk is read-only. Mend that, then run this again.\n`])
  expect(home.read(SETTINGS)).toContain(HUB)
  expect(await home.run(['disconnect', 'gemini', '--yes'])).toMatchObject({ code: 0 })
  expect(home.read(SETTINGS)).toBeUndefined()
})

test('a folder that was made for settings is removed again where these cannot be written', async () => {
  home = newHome(HUB)
  expect(await home.run(['connect', 'gemini', '--yes'])).toMatchObject({ code: 0 }) // the program has made its copy
  const { code, err } = runCramped(0, 'connect opencode')
  expect([code, err]).toEqual([1, expect.stringContaining('Nothing in it has changed.')])
  expect(readdirSync(home.home).toSorted()).toEqual(['.gemini', '.parley'])
})

test('a settings file that cannot be put back is named', async () => {
  home = newHome(HUB)
  home.write('.claude/settings.json', JSON.stringify({ note: 'x'.repeat(100_000) }))
  const large = { PARLEY_TOKEN: 'x'.repeat(50_000) }
  expect(await home.run(['connect', 'claude', '--yes'], { env: large })).toMatchObject({ code: 0 })
  const { code, err } = runCramped(32, 'disconnect claude') // the first file goes, the second cannot be written, nor the first again
  expect(code).toBe(1)
  expect(err).toContain(`${home.path('.claude/settings.json')} could not be written`)
  expect(err).toContain(`${home.path('.claude.json')} could not be put back (`)
  expect(err.trim().endsWith('undo that by hand.')).toBe(true)
})

test('a settings file that its client writes just after it was changed is not put back over that, and is named', () => {
  home = newHome(HUB)
  home.write(SETTINGS, '{ "n": 1 }')
  const path = home.path(SETTINGS)
  const file = { format: 'json' as const, path, entries: [], made: [], wasMissing: false }
  const fail = () => {
    home.write(SETTINGS, '{ "n": 3 }')
    throw new Stop('The disk is full.')
  }
  const change = () => changeAll([{ path, before: '{ "n": 1 }', after: '{ "n": 2 }', file, later: [] }], fail)
  expect(change).toThrow(`The disk is full.\n${path} was changed meanwhile, so that it was not put back`)
  expect(home.read(SETTINGS)).toBe('{ "n": 3 }')
})

describe('the record of what was changed', () => {
  test.skipIf(!canMount)('goes with a disconnect that leaves something else behind, which is named', async () => {
    home = newHome(HUB)
    home.write('.parley/sessions/held.json', '{}')
    expect(await home.run(['connect', 'gemini', '--yes'])).toMatchObject({ code: 0 })
    const held = '.parley/sessions/held.json'
    const { code, out, err } = runWithMounts(home, `mount --bind ${held} ${held} && $PARLEY disconnect gemini --yes`)
    const stuck = `${home.path('.parley/sessions')} could not be removed: it is mounted or in use. Remove it yourself.\n`
    expect([code, out.endsWith(`Gemini CLI is no longer connected to ${HUB}.\n`), err]).toEqual([0, true, stuck])
    expect([home.read(SETTINGS), readdirSync(home.path('.parley'))]).toEqual([undefined, ['sessions']])
  })

  test('is as it was when it cannot be written: what another connection put into a file is kept with the rest', async () => {
    home = newHome(HUB)
    await home.run(['connect', 'gemini', '--yes'])
    await home.run(['connect', 'gemini', '--yes', '--hub', 'http://127.0.0.1:19/mcp'])
    const both = () => [home.read(SETTINGS), home.read('.parley/connections.json')]
    const before = both()
    const { code, err } = runCramped(32, 'connect gemini', { PARLEY_TOKEN: 'x'.repeat(7_000) }) // which the record has more than once
    expect([code, err]).toEqual([1, expect.stringContaining('connections.json could not be written')])
    expect(both()).toEqual(before)
  })
})
