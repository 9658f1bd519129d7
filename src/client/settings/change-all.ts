// Changes to several settings files: all of them, or none.
import type { ChangedFile } from '../connections.ts'
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
    for (const { path, before, after, file } of done.toReversed()) if (before !== after) put(path, before, file.madeFolder)
    throw error
  }
}

const changed = ({ path, before, after, file }: Planned): ChangedFile =>
  before === after ? file : { ...file, madeFolder: put(path, after, file.madeFolder) ?? file.madeFolder }

const put = (path: string, text: string | undefined, madeFolder: string | undefined): string | undefined | void =>
  text === undefined ? removeSettings(path, madeFolder) : writeSettings(path, text)
