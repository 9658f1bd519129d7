import { cn } from '../parts/cn.ts'
import type { AgentState } from './agent-view.ts'

const COLOURS = { ready: 'bg-off', running: 'bg-ok dot-active', asks: 'bg-warn', failed: 'bg-destructive' }
const WORDS = { ready: 'ready', running: 'working', asks: 'asks for permission', failed: 'failed' }

interface Props {
  state: AgentState
  className?: string
  /** What the colour means stands in words beside it. */
  said?: boolean
}

/** How it is with an agent as a colour, and as a word for screen readers. */
export const AgentDot = ({ state, className, said = false }: Props) => (
  <span
    title={said ? undefined : WORDS[state]}
    className={cn('dot relative inline-block size-2 shrink-0 rounded-full', COLOURS[state], className)}
  >
    {!said && <span className="sr-only">{WORDS[state]}</span>}
  </span>
)
