// Changes to several settings files: all of them, or none.
import type { ChangedFile } from '../connections.ts'
import { reasonOf } from '../folder.ts'
import { Stop } from '../machine.ts'
import { emptyOf } from './formats.ts'
import type { Planned } from './plan.ts'
import { removeSettings, writeSettings } from './settings-file.ts'

/** Makes the changes, and calls `keep` with the files as they are to be remembered. Throws Stop where one of them or `keep` fails; what was
 *  changed before is then as it was, or the message names it. */
export const changeAll = (planned: Planned[], keep: (files: ChangedFile[]) => void): void => {
  const done: Planned[] = []
  try {
    for (const each of planned) done.push({ ...each, file: changed(each) })
    keep(done.map(({ file }) => file))
  } catch (error) {
    const stuck = done.toReversed().flatMap((each) => putBack(each) ?? [])
    if (stuck.length === 0) throw error
    throw new Stop([(error as Error).message, ...stuck].join('\n'))
  }
}

// Returns a sentence where that fails.
const putBack = (each: Planned): string | undefined => {
  const { path, before, after } = each
  try {
    if (before !== after) put(each, before)
    return undefined
  } catch (error) {
    const reason = reasonOf((error as Error).cause ?? error)
    return `${path} could not be put back (${reason}) and is changed as shown above: undo that by hand.`
  }
}

const changed = (each: Planned): ChangedFile => {
  const { before, after, file } = each
  return before === after ? file : { ...file, madeFolder: put(each, after) ?? file.madeFolder }
}

const put = ({ path, file }: Planned, text: string | undefined): string | undefined | void =>
  text === undefined ? removeSettings(path, file.madeFolder, emptyOf(file)) : writeSettings(path, text)
