// One watch for each team: a second one leaves.
import { mkdirSync, openSync, closeSync, rmSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseToken } from '../../core/ids.ts'
import { OWN, parleyFolder, readOwn, reasonOf } from '../folder.ts'
import { Stop } from '../machine.ts'
import { isRunning, processOf, sameProcess, type Process } from './processes.ts'
import type { Entry } from './sessions.ts'

const fileOf = (home: string, { team_id }: Entry): string => join(parleyFolder(home), 'sessions', `${parseToken(team_id)!.handle}.watch`)

/** Takes the watch of a team, unless a process that is still running has it. */
export const takeWatch = (home: string, entry: Entry, pid: number): boolean => {
  const file = fileOf(home, entry)
  const own = processOf(pid) ?? { pid, start: '' }
  for (let tries = 0; tries < 2; tries++) {
    if (wrote(file, own)) return true
    const other = readOwn<Process>(file)
    if (other && isRunning(other)) return sameProcess(other, own)
    rmSync(file, { force: true }) // left by one that was killed
  }
  return false
}

export const giveWatchBack = (home: string, entry: Entry): void => rmSync(fileOf(home, entry), { force: true })

// Throws Stop where the disk is full.
const wrote = (file: string, own: Process): boolean => {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  try {
    const descriptor = openSync(file, 'wx', OWN)
    writeSync(descriptor, JSON.stringify(own))
    closeSync(descriptor)
    return true
  } catch (error) {
    if ((error as { code?: string }).code === 'EEXIST') return false
    rmSync(file, { force: true })
    throw new Stop(`${file} could not be written: ${reasonOf(error)}. Nothing is watched until it can be.`)
  }
}
