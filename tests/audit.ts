// Asks the registry whether a package that we depend on is known to be vulnerable. A warning, never a failure: what is found tomorrow must
// not stop what was fine today.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

const WITHIN_MS = 20_000

const { status, stdout, stderr, error } = spawnSync(process.execPath, ['audit'], {
  cwd: join(import.meta.dir, '..'),
  encoding: 'utf8',
  timeout: WITHIN_MS,
})
const said = `${stdout}${stderr}`
if (error || /^error:/m.test(said)) console.log('Vulnerable packages: not known, the registry did not answer.')
else if (status === 0) console.log('Vulnerable packages: none known.')
else {
  console.log(said)
  console.log(
    'WARNING: packages with known holes, above. `bun audit fix` takes fixed versions, of packages of packages too (`bun update` takes none: each is pinned). What it leaves: `bun add --exact NAME@VERSION`, or "overrides" in package.json where another package asks for it. Then run this again, and commit package.json and bun.lock.',
  )
}
