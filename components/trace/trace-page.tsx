import { escapeInvisible } from '../../src/core/text/escape-invisible.ts'
import { counted } from '../../src/core/text/numbers.ts'
import { Icon } from '../parts/icon.tsx'
import { lasted } from '../parts/lasted.ts'
import { SearchBox } from '../search/search-box.tsx'
import { Shell, type Frame } from '../site/shell.tsx'
import { moment } from '../parts/time.ts'
import { TraceTurn } from './trace-turn.tsx'
import { TraceTurns } from './trace-turns.tsx'
import type { ShownTurn, TracedSession, TurnList } from './trace-view.ts'
import { Badge } from '../ui/badge.tsx'
import { Button, LinkButton } from '../ui/button.tsx'
import { Menu, MenuLink } from '../ui/menu.tsx'

interface Props {
  frame: Frame
  session: TracedSession
  list: TurnList
  turn: ShownTurn
}

/** A session as its turns: the list on the left, the events of one on the right. */
export const TracePage = ({ frame, session, list, turn }: Props) => {
  const at = `/sessions/${session.id}`
  const short = session.id.slice(0, 8)
  const crumbs = [
    { label: 'Sessions', href: '/' },
    ...(session.source ? [{ label: short }] : [{ label: short, href: at }, { label: 'Turns' }]),
  ]
  return (
    <Shell frame={frame} title={`${turn.item ? `Turn ${turn.ordinal} · ` : ''}${session.title} · Parley`} crumbs={crumbs} full kind="trace">
      <main id="main" className="flex min-h-0 flex-1 flex-col">
        <Head session={session} person={frame.person} />
        <div className="flex min-h-0 flex-1 max-lg:flex-col">
          {session.turns > 0 && <TraceTurns session={session.id} list={list} />}
          <section id="turn" aria-label="Turn" className="flex min-h-0 min-w-0 flex-1 flex-col bg-card">
            <TraceTurn session={session} turn={turn} />
          </section>
        </div>
      </main>
    </Shell>
  )
}

const Head = ({ session, person }: { session: TracedSession; person: Frame['person'] }) => (
  <section className="shrink-0 border-b px-4 pt-3 pb-2.5" aria-label="Session">
    <div className="flex items-start gap-x-4 gap-y-2.5 max-md:flex-col">
      <div className="min-w-0 flex-1">
        <h1 className="text-[16px] leading-5.5 font-semibold tracking-[-0.015em] wrap-anywhere max-sm:line-clamp-3 sm:text-[17px] sm:leading-6">
          {escapeInvisible(session.title)}
        </h1>
        <div className="mt-1 flex flex-wrap items-center gap-x-2 gap-y-1 text-[13px] text-muted-foreground">
          {session.source && <Badge variant="outline">{escapeInvisible(session.source)}</Badge>}
          {session.source && session.turns > 0 && <Ended ended={session.ended} />}
          <p className="wrap-anywhere tabular-nums">{escapeInvisible(factsOf(session).join(' · '))}</p>
        </div>
      </div>
      <div className="flex shrink-0 items-center gap-1.5 max-md:w-full">
        {person?.role !== 'guest' && <SearchHere session={session.id} />}
        <TraceActions session={session} person={person} />
      </div>
    </div>
  </section>
)

const Ended = ({ ended }: { ended: boolean }) => (
  <Badge
    variant={ended ? 'secondary' : 'warn'}
    title={ended ? 'Its last turn is complete' : 'Its last turn has no end: the agent was cut off or is still running'}
  >
    {ended ? 'Ended' : 'Not ended'}
  </Badge>
)

const factsOf = ({ startedAt, updatedAt, turns, events, models }: TracedSession): string[] => [
  moment(startedAt),
  lasted(startedAt, updatedAt),
  counted(turns, 'turn'),
  counted(events, 'event'),
  ...models,
]

const SearchHere = ({ session }: { session: string }) => (
  <form method="get" action="/search" role="search" className="relative flex min-w-0 flex-1 gap-1.5">
    <SearchBox required aria-label="Search in this session" placeholder="Search in this session" className="md:w-60" />
    <input type="hidden" name="session" value={session} />
    <input type="hidden" name="type" value="all" />
    <Button type="submit" variant="outline" className="max-sm:hidden">
      Search
    </Button>
  </form>
)

// An exported transcript can be imported again. A room has its exports on its own page.
const TraceActions = ({ session: { id, source }, person }: { session: TracedSession; person: Frame['person'] }) =>
  source === undefined ? (
    <LinkButton href={`/sessions/${id}`} variant="outline" className="max-sm:h-9">
      <Icon name="message" />
      Open the feed
    </LinkButton>
  ) : (
    <Menu
      menu="export-menu"
      className="max-sm:h-9"
      items={
        <>
          <MenuLink href={`/sessions/${id}/feed.jsonl?include_trace=true`} download>
            <Icon name="download" />
            All events as JSON Lines
          </MenuLink>
          <MenuLink href={`/sessions/${id}/feed.jsonl`} download>
            <Icon name="message" />
            Prompts only, as JSON Lines
          </MenuLink>
          {person?.role === 'person' && (
            <MenuLink href={`/sessions/${id}/share`}>
              <Icon name="key" />
              Share with people outside…
            </MenuLink>
          )}
        </>
      }
    >
      <Icon name="download" />
      Export
    </Menu>
  )
