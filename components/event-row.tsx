import type { ReactNode } from 'react'
import { visible } from '../src/core/visible.ts'
import { cn } from './cn.ts'
import { Icon, type IconName } from './icon.tsx'
import { TeamName, type Team } from './team.tsx'
import { clock, moment } from './time.ts'

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

const LOOK: Record<string, { icon: IconName; says: (item: EventItem) => ReactNode; tone?: string }> = {
  team_joined: { icon: 'join', says: () => 'joined' },
  team_left: { icon: 'leave', says: () => 'left' },
  convener_changed: { icon: 'users', says: () => 'is now the convener' },
  session_metadata_updated: {
    icon: 'pencil',
    says: ({ changes }) => (changes.title ? 'renamed the session' : 'changed the description'),
  },
  session_concluded: {
    icon: 'flag',
    tone: 'text-violet-foreground',
    says: ({ docVersion }) => (
      <>
        concluded the session
        {docVersion !== undefined && (
          <>
            {' '}
            with document <b className="font-medium text-foreground">v{docVersion}</b>
          </>
        )}
      </>
    ),
  },
  session_reopened: { icon: 'reopen', says: () => 'reopened the session' },
}

/** What happened in the room, in one quiet line; a change shows what it was and why. An event of a kind not known here shows its name. */
export const EventRow = ({ item }: { item: EventItem }) => {
  const { icon, says, tone } = LOOK[item.event] ?? { icon: 'dot' as const, says: () => item.event.replaceAll('_', ' ') }
  return (
    <li
      id={`m${item.sequence}`}
      className="row row-event group relative flex gap-3 px-4 py-1 text-[12.5px] leading-5 text-muted-foreground"
    >
      <span className={cn('grid h-5 w-7 shrink-0 place-items-center', tone)}>
        <Icon name={icon} className="size-3.5" />
      </span>
      <div className="min-w-0 flex-1 pr-10 wrap-anywhere">
        {item.team && <TeamName team={item.team} />} {says(item)}
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
      {reason && <q className="mt-0.5 block text-muted-foreground">{visible(reason)}</q>}
    </div>
  ) : null

const FromTo = ({ from, to }: Change) => (
  <p>
    <s className="text-muted-foreground decoration-muted-foreground/60">{visible(from) || 'none'}</s>
    <span className="mx-1.5 text-muted-foreground">→</span>
    <span className="font-medium">{visible(to) || 'none'}</span>
  </p>
)
