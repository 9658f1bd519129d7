// What `bun run test` says of packages with known holes, by what the registry answers.
import { expect, test } from 'bun:test'
import { join } from 'node:path'

const HOLE = { id: 1, url: 'https://example.org/1', title: 'A hole', severity: 'high', vulnerable_versions: '<99.0.0' }

test.each([
  ['a known hole is a warning that names what to do', () => Response.json({ clsx: [HOLE] }), /A hole.*WARNING.*`bun audit fix`/s],
  ['without one it says so', () => Response.json({}), /^Vulnerable packages: none known\.$/m],
  ['what a registry that is away knows is not known', () => new Response('', { status: 404 }), /^Vulnerable packages: not known/m],
])(
  '%s, and stops nothing',
  async (_, answer, said) => {
    const registry = Bun.serve({ port: 0, fetch: answer })
    try {
      const child = Bun.spawn([process.execPath, join(import.meta.dir, '../audit.ts')], {
        env: { ...process.env, BUN_CONFIG_REGISTRY: registry.url.href },
        stderr: 'inherit',
      })
      expect(await new Response(child.stdout).text()).toMatch(said)
      expect(await child.exited).toBe(0)
    } finally {
      await registry.stop(true)
    }
  },
  60_000,
)
