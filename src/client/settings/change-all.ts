// Changes to several settings files: all of them, or none.
import type { ChangedFile } from '../connections.ts'
import { reasonOf } from '../folder.ts'
import { Stop } from '../machine.ts'
import { emptyOf } from './formats.ts'
import type { Planned } from './plan.ts'
import { readSettings, removeSettings, writeSettings } from './settings-file.ts'

/** Makes the changes, and calls `keep` with the files as they are to be remembered. Throws Stop where one of them or `keep` fails, or where a
 *  file is not as it was when the change was planned; what was changed before is then as it was, or the message names it. */
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
  const { path, before, after, file } = each
  try {
    if (before === after) return undefined
    const now = readSettings(path)
    const isOurs = now === after || (after === undefined && now === emptyOf(file)) // what is left of a file that cannot be removed
    if (!isOurs) return `${path} was changed meanwhile, so that it was not put back, and has the change shown above: undo that by hand.`
    put(each, before)
    return undefined
  } catch (error) {
    const reason = reasonOf((error as Error).cause ?? error)
    return `${path} could not be put back (${reason}) and is changed as shown above: undo that by hand.`
  }
}

const changed = (each: Planned): ChangedFile => {
  const { path, before, after, file } = each
  if (before === after) return file
  // A client writes its settings while a person looks at the change.
  if (readSettings(path) !== before) throw new Stop(`${path} was changed meanwhile. Nothing in it was changed by this: run it again.`)
  return { ...file, madeFolder: put(each, after) ?? file.madeFolder }
}

const put = ({ path, file }: Planned, text: string | undefined): string | undefined | void =>
  text === undefined ? removeSettings(path, file.madeFolder, emptyOf(file)) : writeSettings(path, text)
