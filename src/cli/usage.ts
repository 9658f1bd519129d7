// How each command of server.ts is used; `runner` says so itself.
import { BadConfig } from '../config.ts'
import { USAGE as archive } from './backup.ts'
import { USAGE as imports } from './import.ts'
import { USAGE as key } from './key.ts'
import { USAGE as purge } from './purge.ts'
import { valueIn } from '../core/lookup.ts'

const ALONE = {
  migrate: 'Use it as: bun run db:migrate, which brings the database up to date',
  'operator-key': 'Use it as: bun run operator-key, which makes a new sign-in key and signs everybody out',
  reindex: 'Use it as: bun run reindex, which rebuilds the search index',
}
const USAGE: Record<string, string> = { ...ALONE, ...archive, import: imports, key, purge }

/** What is told of a command whose words ask for help; undefined when they do not. */
export const helpFor = (name: string, words: string[]): string | undefined => (words.includes('--help') ? valueIn(USAGE, name) : undefined)

/** Throws BadConfig when words follow a command that takes none. */
export const takesNoWords = (name: keyof typeof ALONE, words: string[]): void => {
  if (words.length > 0) throw new BadConfig(ALONE[name])
}
