// ~/.parley, where the program keeps its copy, what it changed in settings, the sessions it watches, and what runners remember. Nobody else
// may read there.
import { appendFileSync, chmodSync, mkdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Stop } from './machine.ts'

export const OWN = 0o600

export const parleyFolder = (home: string): string => join(home, '.parley')

/** The folder in it where runners keep what they remember. */
export const RUNNER = 'runner'

/** The JSON in a file of ours; undefined where there is none that can be read. */
export const readOwn = <Kept>(path: string): Kept | undefined => {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Kept
  } catch {
    return undefined
  }
}

/** Writes a file of ours whole or not at all. Throws Stop where that fails, as on a full disk. */
export const writeOwn = (path: string, kept: unknown): void => {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  writeWhole(path, `${JSON.stringify(kept, null, 2)}\n`, OWN)
}

/** Removes a file, if it is there. Throws Stop where that fails. */
export const removeFile = (path: string): void => {
  try {
    rmSync(path, { force: true })
  } catch (error) {
    throw new Stop(`${path} could not be removed: ${reasonOf(error)}. Mend that, then run this again.`, { cause: error })
  }
}

const TRIES = 3 // a watch may write there meanwhile

/** Removes a file or a folder with all that is in it. Returns a sentence where it could not be removed. */
export const dropWhole = (path: string): string[] => {
  try {
    rmSync(path, { recursive: true, force: true, maxRetries: TRIES })
    return []
  } catch (error) {
    return [`${path} could not be removed: ${reasonOf(error)}. Remove it yourself.`]
  }
}

/** Writes beside the file and puts the result in its place, or into the file where that is mounted by itself, as into a container. Throws
 *  Stop, and leaves the file as it was; where not even that can be, what stood in it lies beside it. */
export const writeWhole = (path: string, text: string, mode: number): void => {
  const fresh = `${path}.${process.pid}.parley`
  try {
    writeFileSync(fresh, text, { mode })
    chmodSync(fresh, mode) // the mask of the process does not count
    putInPlace(fresh, path, text)
  } catch (error) {
    if (error instanceof Stop) throw error // what stood in the file lies in `fresh`
    rmSync(fresh, { force: true })
    throw new Stop(`${path} could not be written: ${reasonOf(error)}. Nothing in it has changed.`, { cause: error })
  }
}

const putInPlace = (fresh: string, path: string, text: string): void => {
  try {
    renameSync(fresh, path)
  } catch (error) {
    if (!isMount(error)) throw error
    writeInto(path, Buffer.from(text), fresh)
    rmSync(fresh)
  }
}

/** Whether what failed is a file's removal, or its replacement, because it is mounted by itself. */
export const isMount = (error: unknown): boolean => (error as { code?: string }).code === 'EBUSY'

// The part of the text that is longer than the file is appended before anything in the file changes: on a full disk the file can then be put
// back, for that takes no room.
const writeInto = (path: string, bytes: Buffer, aside: string): void => {
  const before = readFileSync(path)
  writeFileSync(aside, before)
  try {
    appendFileSync(path, bytes.subarray(before.length))
    overwrite(path, bytes)
  } catch (error) {
    if (isPutBack(path, before)) throw error
    throw new Stop(`${path} could be written in part only: ${reasonOf(error)}. What stood in it is in ${aside}: copy that back.`)
  }
}

const isPutBack = (path: string, before: Buffer): boolean => {
  try {
    overwrite(path, before)
  } catch {
    // A file that nothing had changed is as it was all the same.
  }
  return readFileSync(path).equals(before)
}

const overwrite = (path: string, bytes: Buffer): void => {
  writeFileSync(path, bytes, { flag: 'r+' })
  truncateSync(path, bytes.length)
}

const REASONS: Record<string, string> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'your quota is used up',
  EACCES: 'you may not write there',
  EPERM: 'you may not write there',
  EROFS: 'its disk is read-only',
  EBUSY: 'it is mounted or in use',
  ENOTDIR: 'a file is where its folder should be',
}

export const reasonOf = (error: unknown): string => {
  const { code, message } = error as { code?: string; message: string }
  return REASONS[code ?? ''] ?? message
}
