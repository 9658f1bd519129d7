// What a repository's own config names is never run: whoever edits files there, an agent too, may write it. What the config of the user and of
// the machine names for every folder is, as a filter of git-lfs; what they include for some folders alone counts as the repository's.

/** No hook, no program that watches files, and no tidying up, which has a hook of its own: what git takes before a command. Empty, since git before 2.36 would run `false`. */
export const NO_HOOKS = ['-c', 'core.fsmonitor=', '-c', 'core.hooksPath=/dev/null', '-c', 'gc.auto=0', '-c', 'maintenance.auto=false']

/** How git lists a config, once as it holds in a repository and once, by these variables, without one. */
export const LISTING = ['config', '--null', '--list']
export const OUTSIDE = { GIT_DIR: '/dev/null' }

const RUNS = /^(?:filter|credential|hook)\.|^core\.(?:sshcommand|askpass|alternaterefscommand)$/

/** Whether a listed config has settings that name programs. */
export const namesProgram = (listed: string): boolean => programsIn(listed).size > 0

/** What git takes before a command so that each setting which names a program has the values that it has outside the repository, or none.
 *  Undefined where git cannot be told so. */
export const outsideSettings = (inside: string, outside: string): string[] | undefined => {
  const [here, elsewhere] = [programsIn(inside), programsIn(outside)]
  const own = [...here].filter(([name, values]) => values.join('\0') !== elsewhere.get(name)?.join('\0'))
  if (own.some(([name]) => name.includes('='))) return undefined
  return own.flatMap(([name]) => ['', ...(elsewhere.get(name) ?? [])].flatMap((value) => ['-c', `${name}=${value}`]))
}

const programsIn = (listed: string): Map<string, string[]> => {
  const found = new Map<string, string[]>()
  for (const entry of listed.split('\0')) {
    const [name = '', ...value] = entry.split('\n')
    if (RUNS.test(name)) found.set(name, [...(found.get(name) ?? []), value.length > 0 ? value.join('\n') : 'true'])
  }
  return found
}
