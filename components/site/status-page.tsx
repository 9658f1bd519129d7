import { escapeInvisible } from '../../src/core/text/escape-invisible.ts'
import { cn } from '../parts/cn.ts'
import { TextLink } from '../parts/text-link.tsx'
import { ago, clock } from '../parts/time.ts'
import { Badge } from '../ui/badge.tsx'
import { Card, CardHeader, CardTitle } from '../ui/card.tsx'
import { Shell, type Frame } from './shell.tsx'

type Level = 'green' | 'amber' | 'red'

interface CheckView {
  name: string
  title: string
  level: Level
  value: string
  todo?: string
}

export interface StatusView {
  level: Level
  at: string
  instances: { id: string; version: string; started_at: string; own: boolean; checks: CheckView[] }[]
  shared: CheckView[]
}

/** How the server is, for whoever runs it. */
export const StatusPage = ({ frame, status }: { frame: Frame; status: StatusView }) => (
  <Shell frame={frame} title="Status · Parley" kind="status" crumbs={[{ label: 'Settings', href: '/settings' }, { label: 'Status' }]}>
    <main id="main" className="mx-auto grid w-full max-w-3xl grid-cols-[minmax(0,1fr)] gap-5 px-4 py-7 sm:px-6">
      <h1 className="text-xl font-semibold tracking-[-0.02em]">Status</h1>
      <StatusParts status={status} />
      <p className="text-[13px] text-muted-foreground">
        Programs read the same at <Path path="/api/status" />, figures at <Path path="/metrics" />, and rules for Prometheus’ alerts at{' '}
        <Path path="/alerts.yml" />.
      </p>
    </main>
  </Shell>
)

const Path = ({ path }: { path: string }) => <TextLink href={path}>{path}</TextLink>

/** What an open page asks for again every few seconds. */
export const StatusParts = ({ status }: { status: StatusView }) => (
  <div id="status" hx-get="/status" hx-trigger="every 5s" hx-config="timeout:10s" hx-swap="outerMorph" className="grid gap-5">
    <p className="flex flex-wrap items-center gap-2 text-[13px] text-muted-foreground">
      <Lamp level={status.level} />
      <span className="text-foreground">{ALL[status.level]}</span>
      <span>as of {clock(status.at)} UTC</span>
    </p>
    {status.instances.map((instance) => (
      <Card key={instance.id} aria-label={`Instance ${escapeInvisible(instance.id)}`}>
        <CardHeader>
          <CardTitle className="flex flex-wrap items-center gap-2">
            Instance <code className="font-mono text-[12.5px]">{escapeInvisible(instance.id)}</code>
            {instance.own && <Badge variant="outline">answers this page</Badge>}
          </CardTitle>
          <p className="text-[13px] text-muted-foreground">
            Version {escapeInvisible(instance.version)}, up for {ago(instance.started_at, Date.parse(status.at))}
          </p>
        </CardHeader>
        <Checks checks={instance.checks} />
      </Card>
    ))}
    <Card aria-label="Shared by all instances">
      <CardHeader>
        <CardTitle>Shared by all instances</CardTitle>
      </CardHeader>
      <Checks checks={status.shared} />
    </Card>
  </div>
)

const ALL: Record<Level, string> = {
  green: 'All is well',
  amber: 'It works, but something needs a look',
  red: 'Something is wrong',
}

const Checks = ({ checks }: { checks: CheckView[] }) => (
  <ul className="mt-3 divide-y border-t text-[13px]">
    {checks.map(({ name, title, level, value, todo }) => (
      <li key={name} className="flex flex-wrap items-baseline gap-x-3 gap-y-1 px-4 py-2.5">
        <Lamp level={level} />
        <span className="w-40 shrink-0 font-medium">{title}</span>
        <span className="min-w-0 flex-1 basis-52 text-muted-foreground wrap-anywhere">{escapeInvisible(value)}</span>
        {todo && <p className={cn('basis-full sm:pl-7', TEXT[level])}>{withLinks(todo)}</p>}
      </li>
    ))}
  </ul>
)

// Limits name pages by their paths (src/process/status/alarm-levels.ts).
const withLinks = (todo: string) => todo.split(/(\/worktrees)\b/).map((part, i) => (i % 2 === 1 ? <Path key={i} path={part} /> : part))

const COLOURS: Record<Level, string> = { green: 'bg-ok', amber: 'bg-warn', red: 'bg-destructive' }
const TEXT: Record<Level, string> = { green: '', amber: 'text-warn-foreground', red: 'text-destructive-foreground' }

const Lamp = ({ level }: { level: Level }) => (
  <span className={cn('relative size-2.5 shrink-0 rounded-full', COLOURS[level])}>
    <span className="sr-only">{level}</span>
  </span>
)
