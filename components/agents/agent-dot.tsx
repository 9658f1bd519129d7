import { cn } from '../parts/cn.ts'
import type { AgentState } from './agent-view.ts'

const LOOK = { idle: 'bg-off', running: 'bg-ok dot-active', asks: 'bg-warn', failed: 'bg-destructive' }
const WORDS = { idle: 'idle', running: 'working', asks: 'asks for leave', failed: 'failed' }

/** How it is with an agent as a colour, and as a word for screen readers. */
export const AgentDot = ({ state, className }: { state: AgentState; className?: string }) => (
  <span title={WORDS[state]} className={cn('dot relative inline-block size-2 shrink-0 rounded-full', LOOK[state], className)}>
    <span className="sr-only">{WORDS[state]}</span>
  </span>
)
