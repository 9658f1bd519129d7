// The agents that the runner knows by itself, and how it drives one that it was told of.
import { Stop } from '../machine.ts'
import { claude } from './drivers/claude.ts'
import type { Driver } from './drivers/driver.ts'

export interface Kinds {
  builtIn: readonly Driver[]
  /** Drives an agent that speaks ACP, which this command starts. */
  added(name: string, command: readonly string[]): Driver
}

export const KINDS: Kinds = {
  builtIn: [claude],
  added: (name) => {
    throw new Stop(`--agent ${name}: this program drives no agent over ACP yet.`)
  },
}
