import type { ReactNode } from 'react'
import { escapeInvisible } from '../../src/core/text/escape-invisible.ts'
import { cn } from '../parts/cn.ts'
import { Icon } from '../parts/icon.tsx'
import { Snippet } from '../parts/snippet.tsx'
import { TextLink } from '../parts/text-link.tsx'
import { Shell, type Frame } from '../site/shell.tsx'
import { Badge } from '../ui/badge.tsx'
import { LinkButton } from '../ui/button.tsx'
import { Card } from '../ui/card.tsx'
import { Empty } from '../ui/empty.tsx'
import { AgentDot } from './agent-dot.tsx'
import type { AgentState } from './agent-view.ts'

export interface RunnerView {
  id: string
  name: string
  online: boolean
  /** `online for 3h`, `gone for 12m` */
  since: string
  agents: { name: string; version: string | undefined }[]
  bypass: boolean
  across: boolean
  /** `2 of 4 tasks` */
  load: string
  worktrees: WorktreeView[]
}

export interface WorktreeView {
  id: string
  path: string
  repository: string
  branch: string | undefined
  head: string | undefined
  changed: number | undefined
  dirty: boolean
  sessions: { id: string; title: string; state: AgentState }[]
}

interface Props {
  frame: Frame
  runners: RunnerView[]
  /** What starts a runner here. */
  command: string
}

/** The runners and, below each, the worktrees in which agents can work. */
export const WorktreesPage = ({ frame, runners, command }: Props) => (
  <Shell frame={frame} title="Worktrees · Parley" crumbs={[{ label: 'Worktrees' }]} kind="agents">
    <main id="main" className="mx-auto grid w-full max-w-4xl grid-cols-[minmax(0,1fr)] gap-5 px-4 py-7 sm:px-6">
      <div>
        <h1 className="text-xl font-semibold tracking-[-0.02em]">Worktrees</h1>
        <p className="mt-0.5 text-[13px] text-muted-foreground">
          Where agents can work: folders on people’s machines, each served by a runner that its owner started.
        </p>
      </div>
      {runners.length === 0 ? (
        <NoRunner command={command} />
      ) : (
        <>
          {frame.person?.role === 'reader' && (
            <p className="text-[13px] text-muted-foreground">You signed in with the viewer’s password, which only allows reading.</p>
          )}
          {!frame.person && (
            <p className="text-[13px] text-muted-foreground">
              <TextLink href="/sign-in?next=/worktrees">Sign in</TextLink> to open a session here.
            </p>
          )}
          {runners.map((runner) => (
            <Runner key={runner.id} runner={runner} mayAct={frame.person?.role === 'person'} />
          ))}
          <details className="text-[13px] text-muted-foreground">
            <summary className="w-fit cursor-pointer hover:text-foreground">Start another runner</summary>
            <div className="mt-2">
              <HowToStart command={command} />
            </div>
          </details>
        </>
      )}
    </main>
  </Shell>
)

const NoRunner = ({ command }: { command: string }) => (
  <div className="rounded-lg border bg-card shadow-xs">
    <Empty icon={<Icon name="tool" />} title="No runner yet">
      Start one in a checkout of the repository that agents are to work on, on the machine that has their program.
      <div className="mx-auto mt-5 max-w-2xl text-left text-wrap">
        <HowToStart command={command} />
      </div>
    </Empty>
  </div>
)

const HowToStart = ({ command }: { command: string }) => (
  <>
    <Snippet label="In a checkout of the repository that agents are to work on" code={command} />
    <p className="mt-2 text-[12.5px] text-muted-foreground">
      A signed-in person makes the key, of the scope run, at <TextLink href="/settings/keys">Keys and sign-ins</TextLink>. Whoever signs in
      here can then run code there as the runner’s user.
    </p>
  </>
)

const Runner = ({ runner, mayAct }: { runner: RunnerView; mayAct: boolean }) => (
  <Card aria-label={`Runner ${escapeInvisible(runner.name)}`}>
    <div className="flex flex-wrap items-center gap-x-2.5 gap-y-1 px-4 pt-3.5 pb-3">
      <span className={cn('dot relative size-2.25 rounded-full', runner.online ? 'bg-ok' : 'bg-off')} />
      <h2 className="min-w-0 text-[14px] font-semibold tracking-tight wrap-anywhere">{escapeInvisible(runner.name)}</h2>
      <span className={cn('text-[12.5px]', runner.online ? 'text-muted-foreground' : 'font-medium text-warn-foreground')}>
        {runner.since}
      </span>
      {runner.bypass && (
        <Badge variant="destructive" title="Started with --allow-bypass">
          may bypass permissions
        </Badge>
      )}
      {runner.across && <Badge variant="outline">agents reach all its repositories</Badge>}
      <p className="basis-full text-[12.5px] text-muted-foreground">
        {runner.agents.length === 0 && 'No agent’s program was found there'}
        {runner.agents.map(({ name, version }, i) => (
          <span key={name}>
            {i > 0 && ' · '}
            <span className="text-foreground">{escapeInvisible(name)}</span> {version ? escapeInvisible(version) : 'of unknown version'}
          </span>
        ))}
        <span> · {runner.load}</span>
      </p>
    </div>
    {runner.worktrees.length === 0 ? (
      <p className="border-t px-4 py-3 text-[13px] text-muted-foreground">It serves no worktree: start it with --worktree PATH.</p>
    ) : (
      <ul className="divide-y border-t">
        {runner.worktrees.map((worktree) => (
          <Worktree key={worktree.id} worktree={worktree} mayAct={mayAct} />
        ))}
      </ul>
    )}
  </Card>
)

const Worktree = ({ worktree, mayAct }: { worktree: WorktreeView; mayAct: boolean }) => (
  <li className="flex flex-wrap items-start gap-x-4 gap-y-2 px-4 py-3 text-[13px]">
    <div className="min-w-0 flex-1 basis-72">
      <p className="wrap-anywhere">
        <b className="font-medium">{escapeInvisible(worktree.repository)}</b>
        <Fact>{worktree.branch === undefined ? 'no branch' : <bdi>{escapeInvisible(worktree.branch)}</bdi>}</Fact>
        {worktree.head && (
          <Fact>
            <code className="font-mono text-[12px]">{escapeInvisible(worktree.head)}</code>
          </Fact>
        )}
        <Fact>{changes(worktree)}</Fact>
      </p>
      <p className="mt-0.5 font-mono text-[12px] text-muted-foreground wrap-anywhere">{escapeInvisible(worktree.path)}</p>
      {worktree.sessions.length > 0 && (
        <ul className="mt-1.5 grid">
          {worktree.sessions.map(({ id, title, state }) => (
            <li key={id} className="flex min-w-0 items-center gap-2">
              <AgentDot state={state} />
              <a href={`/sessions/${id}`} className="min-w-0 truncate py-1 hover:underline">
                {escapeInvisible(title)}
              </a>
            </li>
          ))}
        </ul>
      )}
    </div>
    {mayAct && (
      <LinkButton href={`/worktrees/${worktree.id}/new`} variant="outline" className="max-sm:h-10 max-sm:w-full">
        <Icon name="plus" />
        New session here
      </LinkButton>
    )}
  </li>
)

const changes = ({ changed, dirty }: WorktreeView): string =>
  changed === undefined
    ? dirty
      ? 'changes unknown'
      : 'clean'
    : changed === 0
      ? 'clean'
      : changed === 1
        ? '1 file changed'
        : `${changed} files changed`

const Fact = ({ children }: { children: ReactNode }) => <span className="text-muted-foreground"> · {children}</span>
