import { cn } from './cn.ts'

export type Status = 'active' | 'idle' | 'disconnected'

const COLOURS = { active: 'bg-ok dot-active', idle: 'bg-warn', disconnected: 'bg-off' }
const LABELS = { active: 'Active', idle: 'Idle', disconnected: 'Disconnected' }

/** A status as a colour, and as a word for screen readers. */
export const StatusDot = ({ status, word = LABELS[status], className }: { status: Status; word?: string; className?: string }) => (
  <span className={cn('dot relative shrink-0 rounded-full', COLOURS[status], className)}>
    <span className="sr-only">{word}</span>
  </span>
)
