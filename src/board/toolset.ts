// The board: how the teams of a session divide the work. It is served with the tools of rooms, so that whoever can talk can divide the work.
import type { Extension } from '../operations/toolset.ts'
import { claimWork } from './claim-work.ts'
import { eventKinds } from './event-kinds.ts'
import work from './guides/work.md' with { type: 'text' }
import { lapsedJob, renewalJob } from './leases.ts'
import { listWork } from './list-work.ts'
import { planWork } from './plan-work.ts'
import { updateWork } from './update-work.ts'

export const board: Extension = {
  before: 'leave_session',
  operations: [planWork, listWork, claimWork, updateWork],
  guides: [{ name: 'work', about: 'dividing the work, and asking a person', text: work }],
  eventKinds,
  jobs: (services) => [lapsedJob(services), renewalJob(services)],
}
