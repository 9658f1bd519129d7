import { cn } from './cn.ts'

export type Status = 'active' | 'idle' | 'disconnected'

const LOOK = { active: 'bg-ok dot-active', idle: 'bg-warn', disconnected: 'bg-off' }
const WORD = { active: 'Active', idle: 'Idle', disconnected: 'Disconnected' }

/** Green, yellow or grey, and the same in a word for those who do not see colours. */
export const StatusDot = ({ status, word = WORD[status], className }: { status: Status; word?: string; className?: string }) => (
  <span className={cn('dot relative shrink-0 rounded-full', LOOK[status], className)}>
    <span className="sr-only">{word}</span>
  </span>
)
