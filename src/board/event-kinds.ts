// The system events that the board writes into feeds.
import type { EventKind } from '../core/event-kinds.ts'

export const eventKinds: readonly EventKind[] = []
