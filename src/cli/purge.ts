// The words after `bun run purge`, and what is told of it.
import { BadConfig } from '../config.ts'
import { idWithin, isUuid } from '../core/ids.ts'
import type { PurgeAnswer, PurgeOrder } from '../process/purge.ts'
import { takenApart } from './words.ts'

export const USAGE = `Use it as one of these; without --yes it says what it would delete, and deletes nothing:
  bun run purge SESSION… [--yes]                           these sessions, with all that was said and done in them
  bun run purge --older-than DAYS --rooms [--yes]          rooms whose last event and last edit of the document are older than so many days
  bun run purge --older-than DAYS --traces [--yes]         imported transcripts, likewise`

/** What is to be purged. Throws BadConfig, whose message says how the command is used. */
export const purgeArguments = (words: string[]): PurgeOrder => {
  const { positionals, values } = takenApart(words, OPTIONS, (message) => new BadConfig(`${message}\n${USAGE}`))
  const ids = positionals.map((word) => idWithin(word))
  const wrong = ids.find((id) => !isUuid(id))
  if (wrong !== undefined) throw new BadConfig(`${JSON.stringify(wrong)} is no session's id.\n${USAGE}`)
  const kinds = (['rooms', 'traces'] as const).filter((kind) => values[kind])
  const days = values['older-than'] === undefined ? undefined : Number(values['older-than'].replace(/d$/, ''))
  if (days !== undefined && !(Number.isInteger(days) && days >= 1))
    throw new BadConfig(`--older-than wants a number of days, at least 1.\n${USAGE}`)
  if ((days === undefined) !== (kinds.length === 0)) throw new BadConfig(`--older-than goes with --rooms, --traces or both.\n${USAGE}`)
  if (ids.length === 0 && days === undefined) throw new BadConfig(USAGE)
  return { ids, kinds, yes: values.yes === true, ...(days !== undefined && { days }) }
}

const OPTIONS = {
  'older-than': { type: 'string' },
  rooms: { type: 'boolean' },
  traces: { type: 'boolean' },
  yes: { type: 'boolean' },
} as const

/** A line for each session, and what came of it or would. */
export const purgeReport = (answer: PurgeAnswer, { yes }: PurgeOrder): string => {
  const { sessions, unknown, purged } = answer
  return [
    ...sessions.map(lineOf),
    ...unknown.map((id) => `${id}  no such session`),
    ...stoppedLines(answer),
    yes
      ? `Purged ${purged} session(s). Backups and exports that you made still have them, and other sessions what they took from them: answers of children, what forks and resumed sessions began with.`
      : sessions.length === 0
        ? 'Nothing would be deleted.'
        : `This would delete ${sessions.length} session(s) for good, and deleted nothing. Add --yes to do it; a backup first keeps a copy (bun run backup FILE, or pg_dump of Postgres).`,
  ].join('\n')
}

/** What a purge did that ended before all was deleted. */
export const cutShortReport = (answer: PurgeAnswer): string =>
  [...stoppedLines(answer), `Purged ${answer.purged} of ${answer.sessions.length} session(s).`].join('\n')

// A line for each session whose agent a purge stopped.
const stoppedLines = ({ stopped = [] }: PurgeAnswer): string[] =>
  stopped.map((id) => `${id}  its agent is stopped: a prompt waits there, and the max_usd that kept it waiting is lifted or refilled`)

const lineOf = ({ id, title, source, last, events, decisions, open_action_items, kept_for }: PurgeAnswer['sessions'][number]): string => {
  const records = [
    ...(decisions > 0 ? [`${decisions} decision(s) in force`] : []),
    ...(open_action_items > 0 ? [`${open_action_items} open action item(s)`] : []),
  ]
  return [
    `${id}  ${source}  last ${last}  ${events} events  ${JSON.stringify(title)}`,
    ...(records.length > 0 ? [`(with ${records.join(' and ')})`] : []),
    ...(kept_for > 0 ? [`(its row stays: ${kept_for} came from it)`] : []),
  ].join('  ')
}
