// What agents' conversations have cost in all, kept beyond the runner: some agents tell that alone, at the end of a prompt, and what the prompt
// has cost is how much it has grown.
import { join } from 'node:path'
import { parleyFolder, readOwn, RUNNER, writeOwn } from '../folder.ts'

const KEPT = 2_000 // conversations, those that were prompted last

export interface ConversationCosts {
  /** In USD, as it was last kept; undefined for one that was not. */
  of(conversation: string | undefined): number | undefined
  /** Throws Stop where it cannot be written. */
  keep(conversation: string, usd: number): void
}

export const conversationCosts = (home: string): ConversationCosts => {
  const path = join(parleyFolder(home), RUNNER, 'costs.json')
  const kept = () => readOwn<[conversation: string, usd: number][]>(path) ?? []
  return {
    of: (conversation) => kept().find(([id]) => id === conversation)?.[1],
    keep: (conversation, usd) => writeOwn(path, [...kept().filter(([id]) => id !== conversation), [conversation, usd]].slice(-KEPT)),
  }
}
