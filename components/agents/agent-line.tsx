import type { ReactNode } from 'react'
import { escapeInvisible } from '../../src/core/text/escape-invisible.ts'
import { Snippet } from '../parts/snippet.tsx'
import { TextLink } from '../parts/text-link.tsx'
import { Badge } from '../ui/badge.tsx'
import { AgentDot } from './agent-dot.tsx'
import type { AgentView } from './agent-view.ts'

/** The session's agent in one line below the title: what it is, what it may, where it works, and on whose machine. */
export const AgentLine = ({ agent }: { agent: AgentView }) => (
  <div
    id="agent"
    data-away={agent.runner?.online || agent.placeless ? undefined : ''}
    data-stopped={agent.held ? '' : undefined}
    className="mt-1.5 flex flex-wrap items-center gap-x-2 gap-y-1 text-[12.5px] text-muted-foreground lying:hidden"
  >
    <AgentDot state={agent.state} />
    <span className="font-medium text-foreground">
      {escapeInvisible(agent.name)}
      {agent.version && <span className="font-normal text-muted-foreground"> {escapeInvisible(agent.version)}</span>}
    </span>
    <Badge variant={agent.unlimited ? 'destructive' : 'outline'} title="What the agent may do without asking" className="font-mono">
      {agent.mode}
      {agent.unlimited && <span className="font-sans">may do anything</span>}
    </Badge>
    {agent.place.length > 0 && (
      <Part>
        <bdi className="wrap-anywhere">{escapeInvisible(agent.place.join(' · '))}</bdi>
      </Part>
    )}
    <Part>
      {agent.runner?.online ? (
        <>
          runner <bdi className="text-foreground">{escapeInvisible(agent.runner.name)}</bdi>
        </>
      ) : agent.placeless ? (
        'no worktree'
      ) : (
        <TextLink href="/worktrees" className="font-medium text-warn-foreground">
          no runner
        </TextLink>
      )}
    </Part>
    {agent.used && <Part>{agent.used}</Part>}
    {agent.asking && (
      <TextLink href={`#${agent.asking}`} className="font-medium text-warn-foreground">
        asks for permission
      </TextLink>
    )}
    {agent.stopped && <p className="basis-full text-warn-foreground wrap-anywhere">{escapeInvisible(agent.stopped)}</p>}
  </div>
)

const Part = ({ children }: { children: ReactNode }) => (
  <span className="min-w-0 before:mr-2 before:opacity-60 before:content-['·'] max-sm:before:hidden">{children}</span>
)

/** How to start the runner that the agent lacks. Shows while the line above says that there is none; on a phone, which has no checkout, that
 *  line's link has to do. */
export const StartRunner = ({ command }: { command: string }) => (
  <div className="mt-2 hidden max-w-3xl lying:hidden sm:[#agent[data-away]~&]:block concluded:hidden!">
    <Snippet label="Prompts wait for a runner. In a checkout of the repository:" code={command} />
  </div>
)
