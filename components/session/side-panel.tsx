import { Board } from '../board/board-pane.tsx'
import type { BoardView } from '../board/board-view.ts'
import { hrefWith } from '../parts/href.ts'
import { TextLink } from '../parts/text-link.tsx'
import { TypeLinks } from '../record-list/record-filters.tsx'
import { PersonLink } from '../record-list/record-row.tsx'
import { RecordRows } from '../record-list/record-rows.tsx'
import type { RecordsView, SeriesView, Who } from '../record-list/record-view.ts'
import { Timeline } from '../record-list/series-line.tsx'
import type { SideCounts } from './session-view.ts'
import { SideTabs } from './side-tabs.tsx'

/** What stands beside the feed instead of the document. */
export type SideView = { name: 'board'; board: BoardView; mark: string } | ({ name: 'records'; mark: string } & SessionRecords)

export interface SessionRecords {
  view: RecordsView
  people: Who[]
  /** The chain of sessions that this one is part of, if it is of any and the reader may read them. */
  series: SeriesView | undefined
}

const LABELS = { board: 'Board', records: 'Records' }

/** The same for all viewers, but for the series: what only some may do, or follow, shows to those. */
export const SidePanel = ({ session, side, counts }: { session: string; side: SideView; counts: SideCounts }) => (
  <section
    id="panel"
    data-panel={side.name}
    data-mark={side.mark}
    aria-label={LABELS[side.name]}
    className="flex min-h-0 min-w-0 flex-1 flex-col"
  >
    <div className="flex h-10 shrink-0 items-center gap-3 border-b px-4 max-lg:hidden sm:px-6">
      <SideTabs session={session} side={side.name} counts={counts} />
    </div>
    <h2 className="sr-only">{LABELS[side.name]}</h2>
    <div
      tabIndex={0}
      role="region"
      aria-label={`The ${LABELS[side.name].toLowerCase()}`}
      className="thin-scroll min-h-0 flex-1 overflow-y-auto"
    >
      {side.name === 'board' ? <Board board={side.board} /> : <Records session={session} {...side} />}
    </div>
  </section>
)

const Records = ({ session, view, people, series }: { session: string } & SessionRecords) => (
  <div className="pb-6">
    <div className="grid gap-2.5 px-4 py-3 sm:px-6">
      <TypeLinks at={`/sessions/${session}/records`} filters={{ ...view.filters, meeting: '' }} />
      {people.length > 0 && (
        <p className="text-[12.5px] leading-5 text-muted-foreground wrap-anywhere">
          With{' '}
          {people.map((who, i) => (
            <span key={who.id ?? who.name}>
              {i > 0 && ', '}
              <PersonLink who={who} />
            </span>
          ))}
        </p>
      )}
      {series && (
        <div className="flex flex-wrap justify-between gap-x-4 text-[12.5px] text-muted-foreground">
          <details>
            <summary className="w-fit cursor-pointer hover:text-foreground">One of {series.count} sessions in a row</summary>
            <Timeline meetings={series.meetings} here={session} />
          </details>
          <TextLink quiet href={hrefWith('/records', { series: series.id, type: 'decision', status: 'in_force' })}>
            All their decisions in force
          </TextLink>
        </div>
      )}
    </div>
    <RecordRows view={view} within />
  </div>
)

/** What changes while the page is open: public/sides.js looks here what to load again. */
export const SideMark = ({ counts, board, records }: { counts: SideCounts; board: string; records: string }) => (
  <div
    id="side-mark"
    hidden
    data-board={board}
    data-records={records}
    data-board-count={counts.board}
    data-records-count={counts.records}
  />
)
