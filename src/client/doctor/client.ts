// Is a client connected as it should be, and does its hook run?
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { stripVTControlCharacters } from 'node:util'
import { whyMissing, whyUnwoken } from '../advice.ts'
import { CLIENTS } from '../clients.ts'
import type { Connection } from '../connections.ts'
import { callAgain, callOf, copyOf } from '../copy.ts'
import { sameHub } from '../hub.ts'
import { noteOf } from '../hub-notes.ts'
import { Stop, type Machine } from '../machine.ts'
import { has } from '../settings/formats.ts'
import { readSettings } from '../settings/settings-file.ts'
import { entriesOf } from '../watch/sessions.ts'
import { isWatched } from '../watch/turn.ts'
import { bad, good, note, type Finding } from './findings.ts'

const WITHIN_MS = 30_000

/** A settings file that cannot be read is a finding too: what else there is to find is told all the same. */
export const checkClient = (machine: Machine, connection: Connection): Finding[] => {
  try {
    return checkSettings(machine, connection)
  } catch (error) {
    if (!(error instanceof Stop)) throw error
    return [bad(`${CLIENTS[connection.client].title}: ${error.message}`)]
  }
}

const checkSettings = (machine: Machine, connection: Connection): Finding[] => {
  const { title } = CLIENTS[connection.client]
  const gone = connection.files.filter((file) => file.made.length > 0 && !has(file, readSettings(file.path) ?? ''))
  if (gone.length > 0)
    return [
      bad(`${title}: ${gone.map(({ path }) => path).join(', ')} was changed since. To set it right: ${connectAgain(machine, connection)}`),
    ]
  return [good(`${title}: its settings are as connect left them.`), listed(machine, connection), ...wakingOf(machine, connection)]
}

const wakingOf = (machine: Machine, connection: Connection): Finding[] => {
  const why = whyUnwoken(CLIENTS[connection.client])
  return why ? [note(why)] : [...hookOf(machine, connection), ...watchOf(machine, connection)]
}

const connectAgain = (machine: Machine, { client, link }: Connection): string => callAgain(machine, 'connect', client, '--hub', link)

// The client itself says whether it knows the server, in a line that begins with the server's name, after marks. The name of another server
// may begin alike, and a name or a link may have "error" in it.
const listed = (machine: Machine, connection: Connection): Finding => {
  const { client, server, link } = connection
  const { title } = CLIENTS[client]
  const { error, stdout, stderr } = spawnSync(client, ['mcp', 'list'], {
    encoding: 'utf8',
    timeout: WITHIN_MS,
    env: machine.env,
    cwd: machine.home,
  })
  if (error)
    return note(
      whyMissing(client, machine) ?? `${title}: \`${client} mcp list\` could not be run here (${(error as { code?: string }).code}).`,
    )
  const named = new RegExp(`^\\W*${server}(?=:|\\s|$)`)
  const lines = stripVTControlCharacters(`${stdout}${stderr}`).split('\n')
  const line = lines.find((each) => named.test(each))
  if (!line) return bad(`${title} does not list "${server}". Start it anew; if it still does not: ${connectAgain(machine, connection)}`)
  return /✘|✗|fail|error/i.test(line.replace(server, '').replace(link, ''))
    ? bad(`${title} lists "${server}", and says: ${line.trim()}`)
    : good(`${title} lists "${server}".`)
}

const hookOf = (machine: Machine, connection: Connection): Finding[] => {
  const command = stopHook(connection)
  if (command === undefined) return []
  const { status, stdout } = spawnSync('/bin/sh', ['-c', `${command} --version`], {
    encoding: 'utf8',
    timeout: WITHIN_MS,
    env: machine.env,
  })
  if (status !== 0) return [bad(`The hook cannot be run: ${command}. To set it right: ${connectAgain(machine, connection)}`)]
  const { hookAt } = noteOf(machine.home, connection.link)
  const ran = hookAt
    ? good(`The hook ran last at ${hookAt}.`)
    : note('The hook has not run yet: join a session and let the agent end a turn.')
  return [good(`The hook can be run (version ${stdout.trim()}).`), ran]
}

// Codex has no hook: its agent has left a process behind that watches its sessions.
const watchOf = (machine: Machine, connection: Connection): Finding[] => {
  const { client, link, version } = connection
  if (client !== 'codex') return []
  const entries = entriesOf(machine.home).filter((entry) => entry.thread !== undefined && sameHub(entry.link, link))
  const left = entries.filter((entry) => !isWatched(machine.home, entry))
  const { title } = CLIENTS[client]
  if (!existsSync(copyOf(machine, version)))
    return [bad(`What wakes ${title} is not there: ${copyOf(machine, version)}. To set it right: ${connectAgain(machine, connection)}`)]
  if (entries.length === 0)
    return [note(`No session of ${title} is watched: its agent hands watch --codex the answer of join_session, outside its sandbox.`)]
  if (left.length === 0) return [good(`A watch runs for each session of ${title} that it was told of (${entries.length}).`)]
  const line = callOf(machine, version)('watch', '--codex', '--hub', link)
  return [bad(`No watch runs for ${left.length} session(s) of ${title}: no message wakes it there. This runs one, until they end: ${line}`)]
}

const stopHook = ({ files }: Connection): string | undefined => {
  const entries = files.flatMap((file) => (file.format === 'json' ? file.entries : []))
  const stop = entries.find(({ path }) => path.at(-1) === 'Stop')?.value as { hooks: { command: string }[] } | undefined
  return stop?.hooks[0]?.command
}
