// One watch for each team: a second one leaves, or takes over.
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseToken } from '../../core/ids.ts'
import { OWN, parleyFolder, readOwn, reasonOf, writeOwn } from '../folder.ts'
import { Stop } from '../machine.ts'
import { isRunning, processOf, sameProcess, type Process } from './processes.ts'

interface Team {
  team_id: string
}

interface Owner extends Process {
  /** Notices that another one has taken over, as programs of earlier versions do not. */
  yields?: true
}

const fileOf = (home: string, { team_id }: Team): string => join(parleyFolder(home), 'sessions', `${parseToken(team_id)!.handle}.watch`)

/** Takes the watch of a team, unless a process that is still running has it. */
export const takeWatch = (home: string, team: Team, pid: number): boolean => {
  const file = fileOf(home, team)
  const own = ownProcess(pid)
  for (let tries = 0; tries < 2; tries++) {
    if (wrote(file, own)) return true
    const other = readOwn<Process>(file)
    if (other === undefined && isBeingWritten(file)) return false
    if (other && isRunning(other)) return sameProcess(other, own)
    removeOf(file, other) // left by one that was killed
  }
  return false
}

/** Takes the watch of a team, unless a process that is still running has it and would not notice. Throws Stop where that cannot be written. */
export const takeOver = (home: string, team: Team, pid: number): void => {
  const owner = readOwn<Owner>(fileOf(home, team))
  if (owner === undefined || owner.yields || !isRunning(owner)) writeOwn(fileOf(home, team), ownProcess(pid))
}

/** Whether this process has the watch of a team still. */
export const hasWatch = (home: string, team: Team, pid: number): boolean => readOwn<Process>(fileOf(home, team))?.pid === pid

/** Whether a process that is running has the watch of a team. */
export const isWatched = (home: string, team: Team): boolean => {
  const owner = readOwn<Process>(fileOf(home, team))
  return owner !== undefined && isRunning(owner)
}

/** Gives the watch of a team back, unless another process has it by now. */
export const giveWatchBack = (home: string, team: Team, pid: number): void => removeOf(fileOf(home, team), ownProcess(pid))

const ownProcess = (pid: number): Owner => ({ ...(processOf(pid) ?? { pid, start: '' }), yields: true })

// Whoever takes a watch makes the file first, and writes its process into it after that.
const WRITTEN_WITHIN_MS = 5_000
const isBeingWritten = (file: string): boolean =>
  Math.abs(Date.now() - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0)) < WRITTEN_WITHIN_MS

// Removes the file of a watch, unless another process has it meanwhile: to find out whether one runs takes a while.
const removeOf = (file: string, owner: Process | undefined): void => {
  const now = readOwn<Process>(file)
  if (now === owner || (now && owner && sameProcess(now, owner))) rmSync(file, { force: true })
}

// Throws Stop where the disk is full.
const wrote = (file: string, own: Process): boolean => {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  try {
    writeFileSync(file, JSON.stringify(own), { flag: 'wx', mode: OWN })
    return true
  } catch (error) {
    if ((error as { code?: string }).code === 'EEXIST') return false
    rmSync(file, { force: true })
    throw new Stop(`${file} could not be written: ${reasonOf(error)}. Nothing is watched until it can be.`)
  }
}
