import type { ReactNode } from 'react'
import { escapeInvisible } from '../../src/core/text/escape-invisible.ts'
import { counted } from '../../src/core/text/numbers.ts'
import { ProblemNote } from '../forms/act-form.tsx'
import { cn } from '../parts/cn.ts'
import { DIFF_VIEWS, DiffTable } from './diff.tsx'
import type { Problem } from '../forms/form-field.tsx'
import { Icon } from '../parts/icon.tsx'
import { TextLink } from '../parts/text-link.tsx'
import { Shell, type Frame } from '../site/shell.tsx'
import { Alert } from '../ui/alert.tsx'
import { Button, LinkButton } from '../ui/button.tsx'
import { Empty } from '../ui/empty.tsx'
import { Input } from '../ui/input.tsx'
import { Label } from '../ui/label.tsx'
import { ChangedLines, VersionList } from './version-list.tsx'
import { historyHref, type Comparison, type History } from './doc-history.ts'

interface Props {
  frame: Frame
  history: History
  idempotencyKey: string
  problem: Problem | undefined
}

export const DocHistoryPage = ({ frame, history, idempotencyKey, problem }: Props) => {
  const { sessionId, newest, comparison } = history
  const at = `/sessions/${sessionId}`
  const crumbs = [{ label: 'Sessions', href: '/' }, { label: sessionId.slice(0, 8), href: at }, { label: 'History' }]
  return (
    <Shell frame={frame} title={`History of ${history.title} · Parley`} crumbs={crumbs}>
      <main id="main" className="mx-auto w-full max-w-7xl px-4 py-6 sm:px-6">
        <h1 className="text-xl font-semibold tracking-[-0.02em]">The document’s history</h1>
        <p className="mt-0.5 text-[13px] text-muted-foreground wrap-anywhere">
          <TextLink quiet href={at}>
            {escapeInvisible(history.title)}
          </TextLink>
          {' · '}
          {newest === 0 ? 'nothing written yet' : counted(newest, 'version')}
        </p>
        {problem && (
          <div className="mt-4">
            <ProblemNote problem={problem} />
          </div>
        )}
        {comparison ? (
          <div className="mt-5 grid grid-cols-[minmax(0,1fr)] items-start gap-5 lg:grid-cols-[18rem_minmax(0,1fr)]">
            <VersionList history={history} />
            <Changes history={history} comparison={comparison}>
              {frame.person?.role === 'person' && !history.locked && comparison.to < newest && (
                <Restore {...{ history, idempotencyKey }} version={comparison.to} />
              )}
            </Changes>
          </div>
        ) : (
          <div className="mt-5 rounded-lg border bg-card shadow-xs">
            <Empty icon={<Icon name="document" />} title="The document is empty">
              Every change will be listed here as a version, with its author.
            </Empty>
          </div>
        )}
      </main>
    </Shell>
  )
}

const VIEWS = { unified: 'Unified', split: 'Side by side' }

const Changes = ({ history, comparison, children }: { history: History; comparison: Comparison; children: ReactNode }) => (
  <section aria-label="Changes" className="min-w-0 overflow-hidden rounded-lg border bg-card shadow-xs">
    <div className="flex flex-wrap items-center gap-x-3 gap-y-2 border-b px-3 py-2">
      <h2 className="text-[13px] font-medium tabular-nums">
        v{comparison.from} → v{comparison.to}
      </h2>
      <ChangedLines changed={comparison} className="text-[12.5px]" />
      <nav aria-label="Layout" className="ml-auto flex gap-0.5">
        {DIFF_VIEWS.map((view) => (
          <a
            key={view}
            href={historyHref(history, { view })}
            aria-current={view === comparison.view ? 'true' : undefined}
            className={cn(
              'rounded-md px-2 py-1 text-[12px] text-muted-foreground hover:text-foreground',
              view === comparison.view && 'bg-secondary font-medium text-secondary-foreground',
            )}
          >
            {VIEWS[view]}
          </a>
        ))}
      </nav>
    </div>
    <div className="flex flex-wrap items-center gap-2 border-b px-3 py-2">
      <Compare history={history} comparison={comparison} />
      <span className="flex-1" />
      {comparison.to > 0 && (
        <LinkButton href={`/sessions/${history.sessionId}/history/${comparison.to}.md`} download variant="outline" size="sm">
          <Icon name="download" />
          Download v{comparison.to}
        </LinkButton>
      )}
      {children}
    </div>
    {!comparison.exact && (
      <Alert className="m-3">
        These versions differ too much to compare line by line; everything between the first and last difference is shown as replaced.
      </Alert>
    )}
    {comparison.rows === 0 ? (
      <p className="px-4 py-8 text-center text-[13px] text-muted-foreground">The versions are identical.</p>
    ) : (
      <DiffTable html={comparison.html} view={comparison.view} />
    )}
    {comparison.cut && (
      <p className="border-t px-4 py-3 text-center text-[12.5px] text-muted-foreground">
        Only the first {comparison.rows.toLocaleString('en')} rows are shown. Download both versions to see everything.
      </p>
    )}
  </section>
)

const Compare = ({ history, comparison }: { history: History; comparison: Comparison }) => (
  <form method="get" className="flex flex-wrap items-center gap-1.5 text-[12.5px] text-muted-foreground">
    {comparison.view === 'split' && <input type="hidden" name="view" value="split" />}
    {history.before !== undefined && <input type="hidden" name="before" value={history.before} />}
    <Label htmlFor="from" className="font-normal whitespace-nowrap">
      Compare v
    </Label>
    <VersionInput name="from" value={comparison.from} newest={history.newest} />
    <Label htmlFor="to" className="font-normal whitespace-nowrap">
      with v
    </Label>
    <VersionInput name="to" value={comparison.to} newest={history.newest} />
    <Button type="submit" variant="outline" size="sm">
      Compare
    </Button>
  </form>
)

const VersionInput = ({ name, value, newest }: { name: string; value: number; newest: number }) => (
  <Input id={name} name={name} type="number" min={0} max={newest} required defaultValue={value} className="h-7 w-16 px-2 max-sm:h-8" />
)

const Restore = ({ history, version, idempotencyKey }: { history: History; version: number; idempotencyKey: string }) => (
  <form method="post" action={`/sessions/${history.sessionId}/history`}>
    <input type="hidden" name="key" value={idempotencyKey} />
    <input type="hidden" name="version" value={version} />
    <input type="hidden" name="expected_version" value={history.newest} />
    <Button type="submit" variant="outline" size="sm" title={`Saves the text of v${version} as v${history.newest + 1}; nothing is lost`}>
      <Icon name="reopen" />
      Restore v{version}
    </Button>
  </form>
)
