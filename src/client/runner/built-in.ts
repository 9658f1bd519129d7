// The agents that the runner knows by itself, and how it drives one that it was told of.
import type { Driver } from './drivers/driver.ts'
import { addedDriver, builtInDrivers } from './drivers/drivers.ts'

export interface Kinds {
  builtIn: readonly Driver[]
  /** Drives an agent that speaks ACP, which this command starts. */
  added(name: string, command: readonly string[]): Driver
}

export const KINDS: Kinds = { builtIn: builtInDrivers, added: addedDriver }
