// A client's settings on the disk: read as text, and written through links, with the rights that they had.
import { existsSync, lstatSync, mkdirSync, readFileSync, realpathSync, rmdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { isMount, OWN, reasonOf, removeFile, writeWhole } from '../folder.ts'
import { Stop } from '../machine.ts'

const ANYBODY_WRITES = 0o222

/** The text; undefined where there is no such file. Throws Stop for one that cannot be read as text. */
export const readSettings = (path: string): string | undefined => {
  if (!existsSync(path)) {
    if (isLink(path)) throw new Stop(`${path} is a link that leads nowhere. Mend it or remove it, then run this again.`)
    return undefined
  }
  const bytes = bytesOf(path)
  const text = bytes.toString('utf8')
  if (!Buffer.from(text).equals(bytes)) throw new Stop(`${path} is not UTF-8 text.`)
  return text
}

const bytesOf = (path: string): Buffer => {
  try {
    return readFileSync(path)
  } catch (error) {
    throw new Stop(`${path} could not be read: ${(error as Error).message}.`)
  }
}

// Throws Stop where a file is in the place of its folder.
const isLink = (path: string): boolean => {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false
  } catch (error) {
    throw new Stop(`${path} could not be read: ${reasonOf(error)}.`)
  }
}

/** Throws Stop where the file is marked as read-only. */
export const refuseReadOnly = (path: string): void => {
  if (existsSync(path) && (statSync(path).mode & ANYBODY_WRITES) === 0)
    throw new Stop(`${path} is read-only. Allow writing to it (chmod u+w), then run this again.`)
}

/** Writes the text. Returns the outermost folder that it had to make. Throws Stop where that fails. */
export const writeSettings = (path: string, text: string): string | undefined => {
  if (existsSync(path)) {
    const real = realpathSync(path)
    writeWhole(real, text, statSync(real).mode & 0o777)
    return undefined
  }
  const folder = folderFor(path)
  try {
    writeWhole(path, text, OWN)
  } catch (error) {
    removeFolders(path, folder)
    throw error
  }
  return folder
}

const folderFor = (path: string): string | undefined => {
  try {
    return mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  } catch (error) {
    throw new Stop(`${dirname(path)} could not be made: ${reasonOf(error)}. Make it yourself, then run this again.`)
  }
}

/** Removes a file that we made, and the folders from `folder` on that were made for it, if they are empty. A file that is mounted by itself
 *  cannot go: `empty` is left in it. Throws Stop where that fails. */
export const removeSettings = (path: string, folder: string | undefined, empty: string): void => {
  try {
    removeFile(path)
  } catch (error) {
    if (!isMount((error as Stop).cause)) throw error
    writeSettings(path, empty)
  }
  removeFolders(path, folder)
}

// Removes the empty folders above a file, from `outermost` on.
const removeFolders = (path: string, outermost: string | undefined): void => {
  if (outermost === undefined) return
  try {
    for (let each = dirname(path); each.startsWith(outermost); each = dirname(each)) rmdirSync(each)
  } catch {
    // Something else has been put there: it stays.
  }
}
