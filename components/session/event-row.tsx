import { visible } from '../../src/core/escape-invisible.ts'
import { cn } from '../parts/cn.ts'
import { eventWords } from './event-words.ts'
import { Icon, type IconName } from '../parts/icon.tsx'
import { TeamName, type Team } from '../parts/team.tsx'
import { clock, moment } from '../parts/time.ts'

interface Change {
  from: string
  to: string
}

export interface EventItem {
  kind: 'event'
  sequence: number
  at: string
  event: string
  team: Team | undefined
  changes: { title?: Change; description?: Change }
  reason: string | undefined
  docVersion: number | undefined
}

/** How each event of a room looks. */
export const EVENT_LOOK: Record<string, { icon: IconName; tone?: string }> = {
  team_joined: { icon: 'join' },
  team_left: { icon: 'leave' },
  convener_changed: { icon: 'users' },
  session_metadata_updated: { icon: 'pencil' },
  session_concluded: { icon: 'flag', tone: 'text-violet-foreground' },
  session_reopened: { icon: 'reopen' },
}

/** What happened in the room, in one quiet line; a change shows what it was and why. An event of an unknown kind shows its name. */
export const EventRow = ({ item }: { item: EventItem }) => {
  const { icon, tone } = EVENT_LOOK[item.event] ?? { icon: 'dot' }
  return (
    <li
      id={`m${item.sequence}`}
      className="row row-event group relative flex gap-3 px-4 py-1 text-[12.5px] leading-5 text-muted-foreground"
    >
      <span className={cn('grid h-5 w-7 shrink-0 place-items-center', tone)}>
        <Icon name={icon} className="size-3.5" />
      </span>
      <div className="min-w-0 flex-1 pr-10 wrap-anywhere">
        {item.team && <TeamName team={item.team} />} {eventWords(item.event, item.changes)}
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
}

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
          {visible(reason)}
        </q>
      )}
    </div>
  ) : null

const FromTo = ({ from, to }: Change) => (
  <p>
    <s dir="auto" className="text-muted-foreground decoration-muted-foreground/60">
      {visible(from) || 'none'}
    </s>
    <span className="mx-1.5 text-muted-foreground">→</span>
    <span dir="auto" className="font-medium">
      {visible(to) || 'none'}
    </span>
  </p>
)
