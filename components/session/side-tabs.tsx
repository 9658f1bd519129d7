import type { ReactNode } from 'react'
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

/** What can stand beside the feed where there is room for both. Links to pages; public/sides.js puts another part in place instead. */
export const SideTabs = ({ session, side, counts }: Props) => (
  <nav aria-label="Beside the feed" className="flex h-10 shrink-0 gap-4 text-[13px] max-lg:hidden">
    {SIDES.map((name) => (
      <Tab key={name} name={name} href={`/sessions/${session}${AT[name]}`} current={name === side}>
        {LABELS[name]}
        <Count name={name} counts={counts} />
      </Tab>
    ))}
  </nav>
)

interface TabProps {
  name: SideName | 'feed'
  href: string
  current?: boolean
  children: ReactNode
}

const Tab = ({ name, href, current = false, children }: TabProps) => (
  <a href={href} data-side={name} aria-current={current ? 'page' : undefined} className="tab">
    {children}
  </a>
)

/** Kept up to date by public/live/aside.js. */
const Count = ({ name, counts }: { name: SideName; counts: SideCounts }) =>
  name === 'document' ? null : <span data-count={name}>{counts[name]}</span>

// For windows in which the panes do not fit side by side. Feed and document are on one page: their tabs are links to a pane, and session.css
// shows the pane that the address names, and which tab is chosen: without script, and with the back button.
export const PaneTabs = ({ session, side, counts, version }: Props & { version: number }) => {
  const at = `/sessions/${session}`
  const here = side === 'document'
  return (
    <nav
      id="tabs"
      aria-label="Parts"
      data-here={here || undefined}
      className="no-bar sticky top-0 z-20 flex h-9 shrink-0 gap-4 overflow-x-auto border-b bg-background px-4 text-[13px] whitespace-nowrap lg:hidden"
    >
      <Tab name="feed" href={here ? '#feed' : at}>
        Feed
      </Tab>
      <Tab name="document" href={`${here ? '' : at}#document`}>
        Document
        <span>v{version}</span>
      </Tab>
      {(['board', 'records'] as const).map((name) => (
        <Tab key={name} name={name} href={`${at}${AT[name]}`} current={name === side}>
          {LABELS[name]}
          <Count name={name} counts={counts} />
        </Tab>
      ))}
    </nav>
  )
}
