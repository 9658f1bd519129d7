// The least versions of what stands between strangers and the program: each has fixes of published holes that our own guards rely on.
import { expect, test } from 'bun:test'

const LEAST = {
  '@modelcontextprotocol/sdk': '1.26.0', // answers were mixed up between clients (CVE-2026-25536); host names were not checked (CVE-2025-66414)
  hono: '4.12.25', // limits of bodies could be passed (CVE-2026-44456, CVE-2026-54288)
}

test.each(Object.entries(LEAST))('%s is at least %s', async (name, least) => {
  const { version } = (await Bun.file(`node_modules/${name}/package.json`).json()) as { version: string }
  expect(Bun.semver.order(version, least)).toBeGreaterThanOrEqual(0)
})

test('Bun is at least 1.4', () => expect(Bun.semver.order(Bun.version, '1.4.0')).toBeGreaterThanOrEqual(0))

test('every package is pinned to one version, and the lock file has it', async () => {
  const { dependencies, devDependencies } = (await Bun.file('package.json').json()) as Record<string, Record<string, string>>
  const lock = await Bun.file('bun.lock').text()
  for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies })) {
    expect(version, name).toMatch(/^\d+\.\d+\.\d+(-[\w.]+)?$/)
    expect(lock).toContain(`"${name}@${version}"`)
  }
})
