// How an agent of Codex that has ended its turn is woken: by a line for a shell, which `parley watch --codex` runs when a message comes.
import { z } from 'zod'
import type { Call } from '../operations/call.ts'

/** The field of the answers that give out a credential. */
export const wakeField = { wake_command: z.string().optional().describe('For Codex: the line that wakes this conversation.') }

/** The line, for a call that comes from a conversation in Codex. Ids alone stand in it: nothing in it needs quoting but its message. */
export const wakeCommand = ({ thread }: Call, sessionId: string): { wake_command?: string } =>
  thread === undefined
    ? {}
    : {
        wake_command: `codex queue --thread ${thread} --message "Parley: news in session ${sessionId}. Read it with wait_for_messages (only: others)."`,
      }
