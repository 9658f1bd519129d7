import { RecordFilters } from './record-filters.tsx'
import { PersonHead } from './person-head.tsx'
import { RecordRows } from './record-rows.tsx'
import type { PersonView, RecordsView, SeriesView } from './record-view.ts'
import { SeriesHead } from './series-line.tsx'
import { Shell, type Frame } from '../site/shell.tsx'
import { FormsDialog } from '../forms/act-form.tsx'

interface Props {
  frame: Frame
  view: RecordsView
  person: PersonView | undefined
  series: SeriesView | undefined
}

/** What people approved, of all sessions. */
export const RecordsPage = ({ frame, view, person, series }: Props) => (
  <Shell frame={frame} title="Records · Parley" crumbs={[{ label: 'Records' }]}>
    <main id="main" className="mx-auto grid w-full max-w-3xl grid-cols-[minmax(0,1fr)] gap-4 px-4 py-7 sm:px-6">
      <link rel="stylesheet" href="/public/board.css" />
      <div>
        <h1 className="text-xl font-semibold tracking-[-0.02em]">Records</h1>
        <p className="mt-0.5 text-[13px] text-muted-foreground">
          What agents proposed and people approved: decisions and action items of all sessions.
        </p>
      </div>
      {person && <PersonHead person={person} />}
      {series && <SeriesHead series={series} />}
      <RecordFilters at="/records" view={view} />
      <div>
        <h2 className="sr-only">Found</h2>
        <RecordRows view={view} within={false} />
      </div>
    </main>
    {frame.person?.role === 'person' && <FormsDialog />}
  </Shell>
)
