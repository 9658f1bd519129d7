import { counted } from '../../src/core/text/numbers.ts'
import { Icon } from '../parts/icon.tsx'
import { lasted } from '../parts/lasted.ts'
import { TextLink } from '../parts/text-link.tsx'
import { moment } from '../parts/time.ts'
import { turnHref, type ShownTurn, type TracedSession } from './trace-view.ts'
import { Badge } from '../ui/badge.tsx'
import { LinkButton } from '../ui/button.tsx'
import { Empty } from '../ui/empty.tsx'

interface Props {
  session: TracedSession
  turn: ShownTurn
}

/** One turn: its head with links to the neighbouring turns, and its events. */
export const TraceTurn = ({ session, turn }: Props) =>
  turn.item === undefined ? (
    <NoTurn session={session} ordinal={turn.ordinal} />
  ) : (
    <>
      <Bar session={session} turn={turn} />
      <div
        tabIndex={0}
        role="region"
        aria-label="Events of this turn"
        className="thin-scroll min-h-0 flex-1 -outline-offset-2 lg:overflow-y-auto"
      >
        <ol className="pt-1 pb-6" dangerouslySetInnerHTML={{ __html: turn.html }} />
      </div>
    </>
  )

const Bar = ({ session, turn }: Props) => {
  const { ordinal, at, updatedAt, events, lacks } = turn.item!
  return (
    <div className="sticky top-0 z-10 flex h-10 shrink-0 items-center gap-2 border-b bg-card px-4">
      <h2 className="shrink-0 text-[13px] font-medium tabular-nums">
        Turn {ordinal.toLocaleString('en')}
        <span className="font-normal text-muted-foreground"> of {session.turns.toLocaleString('en')}</span>
      </h2>
      <p className="min-w-0 truncate text-[12px] text-muted-foreground tabular-nums" title={moment(at)}>
        <span className="max-sm:hidden">{moment(at)} · </span>
        {lasted(at, updatedAt)} · {counted(events, 'event')}
      </p>
      {lacks && (
        <Badge variant="warn" className="max-sm:hidden">
          {lacks}
        </Badge>
      )}
      <nav aria-label="Neighbouring turns" className="ml-auto flex shrink-0 items-center gap-1">
        <Step session={session} to={ordinal - 1} rel="prev" label="Previous turn" />
        <Step session={session} to={ordinal + 1} rel="next" label="Next turn" />
      </nav>
    </div>
  )
}

const Step = ({ session, to, rel, label }: { session: TracedSession; to: number; rel: 'prev' | 'next'; label: string }) => {
  const icon = <Icon name="chevron" className={rel === 'prev' ? 'rotate-180' : undefined} />
  const size = 'size-7'
  return to < 1 || to > session.turns ? (
    <span aria-hidden="true" className={`${size} grid place-items-center text-muted-foreground opacity-40 [&_svg]:size-4`}>
      {icon}
    </span>
  ) : (
    <LinkButton
      variant="ghost"
      size="icon"
      className={size}
      href={turnHref(session.id, to)}
      data-part="turn"
      rel={rel}
      aria-label={label}
      title={`${label} (${rel === 'prev' ? 'p or [' : 'n or ]'})`}
    >
      {icon}
    </LinkButton>
  )
}

/** A link to the turn's first events, where a page begins further down. */
export const EarlierEvents = ({ session, turn }: { session: string; turn: number }) => (
  <li className={END}>
    <a href={turnHref(session, turn)} className={MORE}>
      Show this turn from its beginning
    </a>
  </li>
)

/** A link to the turn's events from the `from`th on. */
export const LaterEvents = ({ session, turn, from }: { session: string; turn: number; from: number }) => (
  <li data-piece="" className={END}>
    <a href={`${turnHref(session, turn)}?from=${from}`} data-part="events" className={MORE}>
      Show more events
    </a>
  </li>
)

const END = 'px-4 pt-3 text-center text-[12.5px]'
const MORE = 'inline-block rounded-md px-3 py-1.5 text-muted-foreground hover:bg-accent hover:text-foreground'

const NoTurn = ({ session: { id, turns }, ordinal }: { session: TracedSession; ordinal: number }) => (
  <div className="grid flex-1 place-items-center">
    {turns === 0 ? (
      <Empty icon={<Icon name="turns" />} title="No turns yet">
        Nothing has been said or done in this session.
      </Empty>
    ) : (
      <Empty icon={<Icon name="turns" />} title={`There is no turn ${ordinal}`}>
        {turns === 1 ? 'This session has one turn.' : `This session has turns 1 to ${turns.toLocaleString('en')}.`}
        <p className="mt-3">
          <TextLink href={turnHref(id, turns)}>Go to the last turn</TextLink>
        </p>
      </Empty>
    )}
  </div>
)
