// The board: how the teams of a session divide the work. It is served with the tools of rooms, so that whoever can talk can divide the work.
import type { Extension } from '../operations/toolset.ts'
import { eventKinds } from './event-kinds.ts'

export const board: Extension = {
  operations: [],
  eventKinds,
}
