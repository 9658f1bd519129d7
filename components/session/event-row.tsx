import { escapeInvisible } from '../../src/core/text/escape-invisible.ts'
import { cn } from '../parts/cn.ts'
import { Icon, iconNamed } from '../parts/icon.tsx'
import { TeamName, type Team } from '../parts/team.tsx'
import { TextLink } from '../parts/text-link.tsx'
import { clock, moment } from '../parts/time.ts'

interface TextChange {
  from: string
  to: string
}

/** A system event as a row of the feed. */
export interface EventItem {
  kind: 'event'
  sequence: number
  at: string
  icon: string
  highlighted: boolean
  /** Who did it, and what happened, in words that follow the name. */
  team: Team | undefined
  words: string
  /** The page that shows what the event is about. */
  href: string | undefined
  changes: { title?: TextChange; description?: TextChange }
  reason: string | undefined
  docVersion: number | undefined
}

/** What happened in the session, in one quiet line; a change shows the old and the new text, and why. */
export const EventRow = ({ item }: { item: EventItem }) => (
  <li id={`m${item.sequence}`} className="row row-event group relative flex gap-3 px-4 py-1 text-[12.5px] leading-5 text-muted-foreground">
    <span className={cn('grid h-5 w-7 shrink-0 place-items-center', item.highlighted && 'text-violet-foreground')}>
      <Icon name={iconNamed(item.icon)} className="size-3.5" />
    </span>
    <div className="min-w-0 flex-1 pr-10 wrap-anywhere">
      {item.team && <TeamName team={item.team} />}{' '}
      {item.href === undefined ? (
        item.words
      ) : (
        <TextLink quiet href={item.href}>
          {item.words}
        </TextLink>
      )}
      {item.docVersion !== undefined && <WithDocument version={item.docVersion} />}
      <Details item={item} />
    </div>
    <a
      href={`#m${item.sequence}`}
      aria-label={`Event ${item.sequence}, ${moment(item.at)}`}
      className="absolute top-1 right-4 text-[11px] tabular-nums opacity-0 transition-opacity group-hover:opacity-100 focus-visible:opacity-100"
    >
      {clock(item.at)}
    </a>
  </li>
)

const WithDocument = ({ version }: { version: number }) => (
  <>
    {' '}
    with document <b className="font-medium text-foreground">v{version}</b>
  </>
)

const Details = ({ item: { changes, reason } }: { item: EventItem }) =>
  changes.title || changes.description || reason ? (
    <div className="mt-1 mb-0.5 -mr-10 rounded-md border bg-card px-2.5 py-1.5 text-foreground">
      {changes.title && <FromTo {...changes.title} />}
      {changes.description && (
        <details>
          <summary className="cursor-pointer text-muted-foreground">The description {changes.title ? 'too' : 'before and after'}</summary>
          <FromTo {...changes.description} />
        </details>
      )}
      {reason && (
        <q dir="auto" className="mt-0.5 block text-muted-foreground">
          {escapeInvisible(reason)}
        </q>
      )}
    </div>
  ) : null

const FromTo = ({ from, to }: TextChange) => (
  <p>
    <s dir="auto" className="text-muted-foreground decoration-muted-foreground/60">
      {escapeInvisible(from) || 'none'}
    </s>
    <span className="mx-1.5 text-muted-foreground">→</span>
    <span dir="auto" className="font-medium">
      {escapeInvisible(to) || 'none'}
    </span>
  </p>
)
