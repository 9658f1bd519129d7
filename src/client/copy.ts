// The copy of this program that settings call: under its version, so that it stays what it was when a hub gets a newer one.
import { chmodSync, copyFileSync, existsSync, mkdirSync, renameSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { quoted } from '../core/text/shell-word.ts'
import { parleyFolder, reasonOf, writeOwn } from './folder.ts'
import { Stop, type Machine } from './machine.ts'
import { packageOf } from './package.ts'

const PROGRAM = 'parley.mjs'
const LICENCES = 'LICENSES.txt' // beside it in the package, of the libraries in it

/** Where the copy of a version lies: of this program's own, unless `version` names another. */
export const copyOf = ({ home, program }: Machine, version = packageOf(program).version): string =>
  join(parleyFolder(home), version, PROGRAM)

/** Puts the copy in its place, if it is not there. Throws Stop where that fails. */
export const makeCopy = (machine: Machine): void => {
  const copy = copyOf(machine)
  if (existsSync(copy) || copy === machine.program) return
  try {
    mkdirSync(dirname(copy), { recursive: true, mode: 0o700 })
    copyFileSync(machine.program, `${copy}.new`)
    chmodSync(`${copy}.new`, 0o700)
    writeOwn(join(dirname(copy), 'package.json'), { name: 'parley', version: packageOf(machine.program).version, type: 'module' })
    const licences = join(dirname(machine.program), LICENCES)
    if (existsSync(licences)) copyFileSync(licences, join(dirname(copy), LICENCES))
    renameSync(`${copy}.new`, copy)
  } catch (error) {
    if (error instanceof Stop) throw error
    throw new Stop(`${copy} could not be made: ${reasonOf(error)}. No settings were changed.`)
  }
}

/** A shell's line that calls the copy. */
export const callOf =
  (machine: Machine, version?: string) =>
  (...words: string[]): string =>
    lineOf([machine.runtime, copyOf(machine, version), ...words])

/** A shell's line that calls this program again: its copy, where there is one, for the folder of its package may go. */
export const callAgain = (machine: Machine, ...words: string[]): string =>
  lineOf([machine.runtime, existsSync(copyOf(machine)) ? copyOf(machine) : machine.program, ...words])

const lineOf = (words: string[]): string => words.map(quoted).join(' ')
