// The sessions that agents on this machine take part in, as the hooks have learned them: a file of mode 0600 for each team, since it holds
// the team's credential.
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isUuid, parseToken } from '../../core/ids.ts'
import type { ClientName, WakeFor } from '../clients.ts'
import { dropWhole, parleyFolder, readOwn, removeFile, writeOwn } from '../folder.ts'
import { sameHub } from '../hub.ts'
import { isRunning, sameProcess, type Process } from './processes.ts'
import { isWatched } from './turn.ts'

export interface Entry {
  link: string
  session_id: string
  team_id: string
  /** The client's process whose agent it is; undefined until a hook of that client has found itself among `ancestors`. */
  owner?: Process | undefined
  ancestors: Process[]
  /** The client's own id of the conversation, and the folder that it works in. */
  conversation?: string | undefined
  folder: string
  /** The last message that the agent was told of. */
  told?: number | undefined
  /** Since when its hub has refused the team, by this machine's clock. */
  refusedSince?: number | undefined
  /** Codex' thread: an entry without one is Claude Code's. */
  thread?: string | undefined
  /** What wakes Codex there, as `connect` had chosen when it joined. Older versions of the program kept none. */
  wakeFor?: WakeFor
}

/** Who asks: a hook of a client. */
export interface Asker {
  ancestors: Process[]
  conversation: string | undefined
  folder: string
}

const FORGOTTEN_AFTER_MS = 30 * 24 * 3600 * 1000 // of an agent that never came back

const folderIn = (home: string): string => join(parleyFolder(home), 'sessions')
export const handleOf = ({ team_id }: Pick<Entry, 'team_id'>): string => parseToken(team_id)!.handle
const fileOf = (home: string, entry: Pick<Entry, 'team_id'>): string => join(folderIn(home), `${handleOf(entry)}.json`)

export const keepEntry = (home: string, entry: Entry): void => writeOwn(fileOf(home, entry), entry)
export const dropEntry = (home: string, entry: Entry): void => removeFile(fileOf(home, entry))

/** The entry of the same team as it is kept now: its agent may have joined again in another conversation while a watch holds it. */
export const entryNow = (home: string, { team_id }: Entry): Entry | undefined => entriesOf(home).find((each) => each.team_id === team_id)

/** Whether the entry is there still: `disconnect` takes it away while a watch holds it. */
export const isKept = (home: string, entry: Entry): boolean => existsSync(fileOf(home, entry))

/** Drops the entries of a client at one hub, so that nothing wakes its agents. Returns a sentence for each that could not be removed. */
export const dropEntriesOf = (home: string, client: ClientName, link: string): string[] =>
  entriesOf(home)
    .filter((entry) => sameHub(entry.link, link) && client === (entry.thread === undefined ? 'claude' : 'codex'))
    .flatMap((entry) => dropWhole(fileOf(home, entry)))

/** When any of them was written last. */
export const changedAt = (home: string): number => {
  const times = filesIn(home).map((file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0)
  return Math.max(0, ...times) + times.length
}

export const entriesOf = (home: string): Entry[] =>
  filesIn(home).flatMap((file) => {
    const entry = readOwn<Entry>(file)
    return entry && isEntry(entry) ? [entry] : []
  })

const filesIn = (home: string): string[] => {
  try {
    return readdirSync(folderIn(home))
      .filter((name) => name.endsWith('.json'))
      .map((name) => join(folderIn(home), name))
  } catch {
    return []
  }
}

const isEntry = ({ session_id, team_id, ancestors, link }: Entry): boolean =>
  isUuid(session_id) && parseToken(team_id) !== undefined && Array.isArray(ancestors) && URL.canParse(link)

/** The entries of the client that asks, at this hub. An entry whose shell runs below that client becomes its own. */
export const entriesFor = (home: string, link: string, asker: Asker): Entry[] =>
  entriesOf(home)
    .filter((entry) => sameHub(entry.link, link) && isOf(entry, asker))
    .map((entry) => claimed(home, entry, asker))

const isOf = (entry: Entry, { ancestors, conversation, folder }: Asker): boolean => {
  const [client] = ancestors
  const sameTalk = entry.conversation === undefined || conversation === undefined || entry.conversation === conversation
  if (!client) return sameTalk && entry.folder === folder
  if (sameProcess(entry.owner, client)) return sameTalk
  if (entry.owner) return entry.conversation !== undefined && entry.conversation === conversation && !isRunning(entry.owner)
  return sameTalk && entry.ancestors.some((one) => sameProcess(one, client))
}

const claimed = (home: string, entry: Entry, { ancestors: [client], conversation }: Asker): Entry => {
  if (sameProcess(entry.owner, client) && entry.conversation === conversation) return entry
  const own = { ...entry, owner: client, conversation: conversation ?? entry.conversation }
  keepEntry(home, own)
  return own
}

/** Entries of agents that have not been seen for a month are forgotten, unless they are watched. */
export const forgetOld = (home: string, now: number): void => {
  for (const file of filesIn(home)) {
    const stat = statSync(file, { throwIfNoEntry: false })
    if (stat && now - stat.mtimeMs > FORGOTTEN_AFTER_MS && !isInUse(home, file)) rmSync(file, { force: true })
  }
}

const isInUse = (home: string, file: string): boolean => {
  const entry = readOwn<Entry>(file)
  return entry !== undefined && isEntry(entry) && isWatched(home, entry)
}
