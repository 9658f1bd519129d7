// The runtime by the name under which it stays: settings and hooks call it after an update too.
import { realpathSync } from 'node:fs'
import { basename, delimiter, isAbsolute, join } from 'node:path'

// Folders that fnm and Bun put into PATH for one shell or one call: they are gone afterwards.
const PASSING = /\/(fnm_multishells|bun-node-[^/]*)\//

/** The first entry of PATH that leads to this file; the file itself where there is none. Homebrew's lies in a folder of its version, which the
 *  next version removes, and what PATH has then leads to that one. */
export const lastingName = (execPath: string, path = ''): string =>
  path
    .split(delimiter)
    .filter(isAbsolute)
    .map((folder) => join(folder, basename(execPath)))
    .find((entry) => !PASSING.test(entry) && leadsTo(entry, execPath)) ?? execPath

const leadsTo = (entry: string, file: string): boolean => {
  try {
    return realpathSync(entry) === realpathSync(file)
  } catch {
    return false
  }
}
