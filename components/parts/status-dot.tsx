import { cn } from './cn.ts'

export type Status = 'active' | 'asleep' | 'idle' | 'disconnected'

const COLOURS = { active: 'bg-ok dot-active', asleep: 'bg-asleep dot-asleep', idle: 'bg-warn', disconnected: 'bg-off' }
const LABELS = { active: 'Active', asleep: 'Asleep', idle: 'Idle', disconnected: 'Disconnected' }

/** A status as a colour, and as a word for screen readers. */
export const StatusDot = ({
  status,
  word = LABELS[status],
  className,
}: {
  status: Status
  word?: string | undefined
  className?: string
}) => (
  <span className={cn('dot relative shrink-0 rounded-full', COLOURS[status], className)}>
    <span className="sr-only">{word}</span>
  </span>
)
