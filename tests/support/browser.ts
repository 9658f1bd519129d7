import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chromium } from 'playwright'

/** The path of a Chromium or Chrome that runs. */
export const findChromium = async (): Promise<string> => {
  const given = process.env.CHROMIUM_PATH
  if (given && !runs(given)) throw new Error(`CHROMIUM_PATH=${given} is no browser that runs.`)
  const found = given ?? candidates().find(runs)
  if (!found) throw new Error('No Chromium was found. `bun run test` installs one, or set CHROMIUM_PATH to a Chromium or Chrome.')
  return found
}

/** The browser that the whole suite uses: the headless shell where it is there or Debian's package of it can be installed, else any Chromium
 *  that is there or can be installed. The shell needs half of a whole Chromium's processor time (tests/browser/acts.test.ts: 14 s, not 25). */
export const ensureChromium = async (): Promise<string> => {
  if (process.env.CHROMIUM_PATH) return findChromium() // one that is wrong is for its owner to mend
  if (!Bun.which(SHELL) && hasPackages()) packaged(SHELL).every((command) => succeeds(command))
  return findChromium().catch(installChromium)
}

/** Tries one way after the other until a browser runs. */
const installChromium = async (): Promise<string> => {
  for (const commands of waysToInstall()) {
    const done = commands.every((command) => succeeds(command))
    const found = done && candidates().find(runs)
    if (found) return found
  }
  throw new Error('Chromium could not be installed. Install Chromium or Chrome yourself and set CHROMIUM_PATH to it.')
}

/** The path of one that can show notifications, as the headless shell cannot. Installs it if there is none. */
export const findFullChromium = async (): Promise<string> => {
  const found = () => candidates().find((path) => !path.endsWith(SHELL) && runs(path))
  const present = found()
  if (present) return present
  for (const commands of waysToInstall()) if (commands.every(succeeds) && found()) return found()!
  throw new Error('No Chromium that shows notifications was found. Install Chromium or Chrome, not the headless shell alone.')
}

export const launchArgs = [
  // As root Chromium starts only without its sandbox.
  ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  '--disable-gpu',
]

// The headless shell first: it leaves out what only windows need.
const SHELL = 'chromium-headless-shell'
const OTHERS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

const MACOS = ['/Applications/Google Chrome.app/Contents/MacOS/Google Chrome', '/Applications/Chromium.app/Contents/MacOS/Chromium']

const TEN_MINUTES = 600_000

const candidates = (): string[] => {
  const onPath = (names: string[]) => names.flatMap((name) => Bun.which(name) ?? [])
  return [...onPath([SHELL]), chromium.executablePath(), ...onPath(OTHERS), ...MACOS].filter((path) => existsSync(path))
}

/** A file alone proves nothing: it may miss libraries, or be Ubuntu's stub that only names a snap. */
const runs = (path: string): boolean => spawnSync(path, ['--version'], { stdio: 'ignore', timeout: 30_000 }).status === 0

const waysToInstall = (): string[][][] => {
  // Without --no-install it would quietly fetch the newest playwright, whose browser is not the one ours looks for.
  const playwright = [process.execPath, 'x', '--no-install', 'playwright']
  const download = [[...playwright, 'install', 'chromium']]
  return hasPackages() ? [download, packaged('chromium'), [[...playwright, 'install-deps', 'chromium']]] : [download]
}

const hasPackages = () => process.getuid?.() === 0 && Bun.which('apt-get') !== null

const packaged = (name: string): string[][] => [
  ['apt-get', 'update'],
  ['apt-get', 'install', '-y', name],
]

const succeeds = ([command = '', ...args]: string[]): boolean => {
  console.log(`$ ${[command, ...args].join(' ')}`)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  return spawnSync(command, args, { cwd: import.meta.dir, stdio: ['ignore', 'inherit', 'inherit'], env, timeout: TEN_MINUTES }).status === 0
}
