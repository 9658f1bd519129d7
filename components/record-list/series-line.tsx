import { escapeInvisible } from '../../src/core/text/escape-invisible.ts'
import { cn } from '../parts/cn.ts'
import { hrefWith } from '../parts/href.ts'
import { TextLink } from '../parts/text-link.tsx'
import { day } from '../parts/time.ts'
import type { SeriesMeeting, SeriesView } from './record-view.ts'

/** The sessions of a series in their order. */
export const SeriesHead = ({ series }: { series: SeriesView }) => (
  <section aria-label="The series" className="rounded-lg border bg-card px-4 py-3 shadow-xs">
    <p className="text-[13px] font-medium">
      {series.meetings.length === 1 ? 'A session that none has continued yet' : `A series of ${series.count} sessions`}
    </p>
    <Timeline meetings={series.meetings} />
    <p className="mt-1.5 flex gap-4 text-[12.5px]">
      <TextLink href={hrefWith('/records', { series: series.id, type: 'decision', status: 'in_force' })}>Decisions in force</TextLink>
      <TextLink href={hrefWith('/records', { series: series.id, type: 'action', status: 'open' })}>What is open</TextLink>
    </p>
  </section>
)

/** Sessions one below the other, with what each decided. `here`: the one that the reader is in. */
export const Timeline = ({ meetings, here }: { meetings: SeriesMeeting[]; here?: string }) => (
  <ol className="timeline">
    {meetings.map(({ id, title, at, concluded, decisions, openItems }) => (
      <li key={id} data-over={concluded || undefined}>
        <a
          href={id === here ? undefined : `/sessions/${id}`}
          dir="auto"
          className={cn('min-w-0 wrap-anywhere', id === here ? 'font-medium' : 'underline underline-offset-2')}
        >
          {escapeInvisible(title)}
        </a>
        <span className="text-muted-foreground">
          {day(at)}
          {decisions > 0 && `, ${decisions} decided`}
          {openItems > 0 && (
            <>
              {', '}
              <TextLink quiet href={hrefWith('/records', { meeting: id, status: 'open' })}>
                {openItems} open
              </TextLink>
            </>
          )}
          {!concluded && ', not concluded'}
        </span>
      </li>
    ))}
  </ol>
)
