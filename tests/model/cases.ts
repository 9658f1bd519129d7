// Programs that once failed, as fast-check shrank them: they are run before any others. A failure prints its steps as they stand here.
import type { Step } from './command.ts'

export interface Cases {
  /** One step after the other. */
  alone: Step[][]
  /** Programs at the same time. */
  atOnce: Step[][][]
}

export const CASES: Record<'rooms', Cases> = {
  rooms: { alone: [], atOnce: [] },
}
