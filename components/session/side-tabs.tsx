import { cn } from '../parts/cn.ts'
import type { SideCounts, SideName } from './session-view.ts'

interface Props {
  session: string
  /** What the page shows beside the feed. */
  side: SideName
  counts: SideCounts
}

const AT: Record<SideName, string> = { document: '', board: '/board', records: '/records' }
const LABELS: Record<SideName, string> = { document: 'Document', board: 'Board', records: 'Records' }
const SIDES = Object.keys(AT) as SideName[]

/** What can stand beside the feed where there is room for both. Links to pages; public/live/sides.js puts another part in place instead. */
export const SideTabs = ({ session, side, counts }: Props) => (
  <nav aria-label="Beside the feed" className="flex h-full shrink-0 gap-4 text-[13px] max-lg:hidden">
    {SIDES.map((name) => (
      <a
        key={name}
        href={`/sessions/${session}${AT[name]}`}
        data-side={name}
        aria-current={name === side ? 'page' : undefined}
        className={cn(
          'flex items-center gap-1.5 border-b-2 px-0.5',
          name === side ? 'border-foreground font-medium' : 'border-transparent text-muted-foreground hover:text-foreground',
        )}
      >
        {LABELS[name]}
        <Count name={name} counts={counts} />
      </a>
    ))}
  </nav>
)

/** Kept up to date by public/live/sides.js. */
const Count = ({ name, counts }: { name: SideName; counts: SideCounts }) =>
  name === 'document' ? null : (
    <span data-count={name} className="text-[11px] font-normal text-muted-foreground tabular-nums">
      {counts[name]}
    </span>
  )

const TAB = 'flex items-center gap-1.5 border-b-2 px-0.5'
const CHOSEN = 'border-foreground font-medium'
const OTHER = 'border-transparent text-muted-foreground'

// For windows in which the panes do not fit side by side. Feed and document are on one page: their tabs are links to a pane, and session.css
// shows the pane that the address names: without script, and with the back button.
export const Tabs = ({ session, side, counts, version }: Props & { version: number }) => {
  const at = `/sessions/${session}`
  const here = side === 'document'
  return (
    <nav
      id="tabs"
      aria-label="Parts"
      className="no-bar sticky top-0 z-20 flex h-9 shrink-0 gap-4 overflow-x-auto border-b bg-background px-4 text-[13px] whitespace-nowrap lg:hidden"
    >
      <a
        href={here ? '#feed' : at}
        data-side="feed"
        className={cn(
          TAB,
          here ? CHOSEN : OTHER,
          here && 'on-document:border-transparent on-document:font-normal on-document:text-muted-foreground',
        )}
      >
        Feed
      </a>
      <a
        href={here ? '#document' : `${at}#document`}
        data-side="document"
        className={cn(
          TAB,
          OTHER,
          'data-news:after:size-1.5 data-news:after:rounded-full data-news:after:bg-brand',
          here && 'on-document:border-foreground on-document:font-medium on-document:text-foreground',
        )}
      >
        Document
        <span className="text-[11px] font-normal text-muted-foreground tabular-nums">v{version}</span>
      </a>
      {(['board', 'records'] as const).map((name) => (
        <a
          key={name}
          href={`${at}${AT[name]}`}
          data-side={name}
          aria-current={name === side ? 'page' : undefined}
          className={cn(TAB, name === side ? CHOSEN : OTHER)}
        >
          {LABELS[name]}
          <Count name={name} counts={counts} />
        </a>
      ))}
    </nav>
  )
}
