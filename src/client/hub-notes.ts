// What hubs have said that outlives one call: another address of theirs, and whether a person was told of a newer program.
import { join } from 'node:path'
import { baseOfLink } from '../core/address.ts'
import { quoted } from '../core/text/shell-word.ts'
import { parleyFolder, readOwn, writeOwn } from './folder.ts'
import { askHub, hubConfigOf, isLessGuarded, type Hub, type HubConfig } from './hub.ts'

interface Note {
  announced?: string
  toldOf?: string
  /** When a client's hook ran last, by this machine's clock. */
  hookAt?: string
}

const fileIn = (home: string): string => join(parleyFolder(home), 'hubs.json')

export const noteOf = (home: string, link: string): Note => readOwn<Record<string, Note>>(fileIn(home))?.[link] ?? {}

const keepNote = (home: string, link: string, note: Note): void =>
  writeOwn(fileIn(home), { ...readOwn<Record<string, Note>>(fileIn(home)), [link]: note })

/** Keeps that a hook has run now. */
export const noteHook = (home: string, link: string, now: Date): void =>
  keepNote(home, link, { ...noteOf(home, link), hookAt: now.toISOString() })

const WITHIN_MS = 5_000

/** Asks the hub how it is reached, and keeps an address that differs from the known one. Undefined where no Parley answers. */
export const askConfig = async (home: string, { link, token }: Hub): Promise<HubConfig | undefined> => {
  const config = await askHub(baseOfLink(link), '/api/config', { token, withinMs: WITHIN_MS }).then(hubConfigOf, () => undefined)
  const note = noteOf(home, link)
  if (config && config.link !== (note.announced ?? link)) keepNote(home, link, { ...note, announced: config.link })
  return config
}

/** The line that updates this program, where the hub has a newer one and nobody was told of that yet. */
export const updateLine = (home: string, link: string, config: HubConfig, version: string): string | undefined => {
  const line = updateNote(link, config, version)
  const note = noteOf(home, link)
  if (line === undefined || note.toldOf === config.program) return undefined
  keepNote(home, link, { ...note, toldOf: config.program! })
  return line
}

/** The same, however often it was told. `command`: what is to be run by the newer one. */
export const updateNote = (link: string, { program }: HubConfig, version: string, command = CONNECT): string | undefined =>
  program === undefined || program.endsWith(`/parley-${version}.tgz`) || version === 'checkout'
    ? undefined
    : `The hub has another version of this program. To update: ${updateCommand(link, program, command)}`

const CONNECT = 'connect CLIENT'

/** What updates this program: from where the hub says, unless somebody on the way there could change it who cannot on the way to the link
 *  that is in use, as through a tunnel. */
export const updateCommand = (link: string, program: string, command = CONNECT): string => {
  const file = program.slice(program.lastIndexOf('/'))
  if (program === baseOfLink(link) + file) return `npx -y ${program} ${command}`
  return `npx -y ${isLessGuarded(program, link) ? baseOfLink(link) + file : program} ${command} --hub ${quoted(link)}`
}
