// How an agent of Codex that has ended its turn is woken: by a line for a shell, which `parley watch --codex` runs when a message comes.
import { z } from 'zod'
import type { Call } from '../operations/call.ts'

/** The fields of the answers that give out a credential. */
export const wakeField = {
  wake_command: z.string().optional().describe('For Codex: the line that wakes this conversation.'),
  to_be_woken: z.string().optional().describe('For Codex: what to do once, so that a message runs that line.'),
}

const TO_BE_WOKEN =
  'If ~/.parley is there, hand this whole answer to `node "$(ls -t ~/.parley/*/parley.mjs | head -1)" watch --codex` on standard input, outside your sandbox, which has no network (hooks.md).'

/** Both, for a call that comes from a conversation in Codex; a driven agent is woken by its runner. Of what a caller chooses ids alone stand in
 *  the line: nothing in it needs quoting but its message. */
export const wakeCommand = ({ thread, key }: Call, sessionId: string): { wake_command?: string; to_be_woken?: string } =>
  thread === undefined
    ? {}
    : {
        wake_command: `codex queue --thread ${thread} --message "Parley: news in session ${sessionId}. Read it with wait_for_messages (only: others)."`,
        ...(key?.scope !== 'agent' && { to_be_woken: TO_BE_WOKEN }),
      }
