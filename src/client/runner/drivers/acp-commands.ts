// An ACP agent's commands: what it takes the first word of a prompt for, where that begins with /.
import { listOr, objectOr, wordOf, type Json } from '../../../transcripts/json.ts'
import { pause } from '../../../core/runtime/pause.ts'
import type { AcpAgent } from './acp-agents.ts'

const WITHIN_MS = 2_000

export type Commands = ReturnType<typeof newCommands>

export const newCommands = ({ dropsCommandsBut: own }: AcpAgent) => {
  let announce = (_: readonly string[]) => {}
  const announced = new Promise<readonly string[]>((resolve) => (announce = resolve))
  return {
    onUpdate({ sessionUpdate, availableCommands }: Json) {
      if (sessionUpdate === 'available_commands_update') announce(listOr(availableCommands).map((each) => wordOf(objectOr(each).name)))
    },
    /** The prompt, behind a line of its own where the agent would take its first word for a command that it does not have. */
    async asRead(prompt: string): Promise<string> {
      const name = /^\s*\/(\S+)/.exec(prompt)?.[1]
      if (name === undefined || own === undefined || own.includes(name)) return prompt
      const known = await Promise.race([announced, pause(WITHIN_MS).then((): readonly string[] => [])])
      return known.includes(name) ? prompt : `${NO_COMMAND}\n\n${prompt}`
    },
  }
}

const NO_COMMAND = 'The prompt follows. Its first word is no command.'
