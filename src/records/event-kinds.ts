// The system events that records write into feeds.
import type { EventKind } from '../core/event-kinds.ts'

export const eventKinds: readonly EventKind[] = []
