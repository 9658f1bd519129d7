import { inBytes } from '../../src/core/text/numbers.ts'
import { cn } from '../parts/cn.ts'
import { historyHref, type History, type Version } from './doc-history.ts'
import { TeamName } from '../parts/team.tsx'
import { TextLink } from '../parts/text-link.tsx'
import { moment } from '../parts/time.ts'

/** A page of versions, newest first, each a link to what it changed. */
export const VersionList = ({ history }: { history: History }) => (
  <nav aria-label="Versions" className="rounded-lg border bg-card shadow-xs max-lg:max-h-72 max-lg:overflow-y-auto">
    <ol className="divide-y">
      {history.versions.map((row) => (
        <li
          key={row.version}
          className={cn('relative px-3 py-2 hover:bg-accent/50', row.version === history.comparison?.to && 'bg-accent')}
        >
          <a
            href={historyHref(history, { from: row.version - 1, to: row.version })}
            aria-current={row.version === history.comparison?.to ? 'true' : undefined}
            className="flex items-center gap-2 text-[13px] after:absolute after:inset-0"
          >
            <span className="rounded border bg-secondary px-1.5 py-0.5 font-mono text-[11px] font-medium text-secondary-foreground tabular-nums">
              v{row.version}
            </span>
            <span className="min-w-0 truncate">
              <TeamName team={row.by} />
            </span>
            <ChangedLines changed={row.changed} className="ml-auto text-[12px]" />
          </a>
          <p className="mt-0.5 text-[12px] text-muted-foreground" title={moment(row.at)}>
            {row.age} · {inBytes(row.bytes)}
          </p>
        </li>
      ))}
    </ol>
    {(history.before !== undefined || history.older !== undefined) && (
      <p className="flex justify-between gap-2 border-t px-3 py-2 text-[12.5px]">
        {history.before === undefined ? <span /> : <TextLink href={historyHref(history, { before: undefined })}>Newest</TextLink>}
        {history.older !== undefined && <TextLink href={historyHref(history, { before: history.older })}>Older</TextLink>}
      </p>
    )}
  </nav>
)

/** How many lines came and went. */
export const ChangedLines = ({ changed, className }: { changed: Version['changed']; className?: string }) =>
  changed && (
    <span className={cn('flex shrink-0 gap-1.5 tabular-nums', className)}>
      <span className="text-ok-foreground">
        {changed.exact ? '+' : '≤ +'}
        {changed.added.toLocaleString('en')}
        <span className="sr-only"> lines</span>
      </span>
      <span className="text-destructive-foreground">
        {changed.exact ? '−' : '≤ −'}
        {changed.removed.toLocaleString('en')}
        <span className="sr-only"> lines</span>
      </span>
    </span>
  )
