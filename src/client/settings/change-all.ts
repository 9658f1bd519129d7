// Changes to several settings files: all of them, or none.
import type { ChangedFile } from '../connections.ts'
import { emptyOf } from './formats.ts'
import type { Planned } from './plan.ts'
import { removeSettings, writeSettings } from './settings-file.ts'

/** Makes the changes, and calls `keep` with the files as they are to be remembered. Throws Stop where one of them or `keep` fails; what was
 *  changed before is then as it was. */
export const changeAll = (planned: Planned[], keep: (files: ChangedFile[]) => void): void => {
  const done: Planned[] = []
  try {
    for (const each of planned) done.push({ ...each, file: changed(each) })
    keep(done.map(({ file }) => file))
  } catch (error) {
    for (const each of done.toReversed()) if (each.before !== each.after) put(each, each.before)
    throw error
  }
}

const changed = (each: Planned): ChangedFile => {
  const { before, after, file } = each
  return before === after ? file : { ...file, madeFolder: put(each, after) ?? file.madeFolder }
}

const put = ({ path, file }: Planned, text: string | undefined): string | undefined | void =>
  text === undefined ? removeSettings(path, file.madeFolder, emptyOf(file)) : writeSettings(path, text)
