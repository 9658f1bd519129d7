// Programs that once failed, as fast-check shrank them: they are run before any others. A failure prints its steps as they stand here.
import type { Step } from './command.ts'

export interface Cases {
  /** One step after the other. */
  alone: Step[][]
  /** Programs at the same time. */
  atOnce: Step[][][]
}

export const CASES: Record<'rooms' | 'records' | 'control', Cases> = {
  rooms: { alone: [], atOnce: [] },
  records: {
    alone: [
      // Who has left, and brings a key, was told that there is no such proposal.
      [
        { op: 'leave_session', door: 'REST', at: 0, by: 0, key: 0 },
        { op: 'records.resolve_approval', door: 'REST', at: 0, by: 0, key: 1, which: 0, reject: 0, edits: 0, feedback: 0 },
      ],
    ],
    atOnce: [],
  },
  control: { alone: [], atOnce: [] },
}
