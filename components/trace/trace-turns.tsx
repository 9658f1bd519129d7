import type { ReactNode } from 'react'
import { escapeInvisible } from '../../src/core/text/escape-invisible.ts'
import { cn } from '../parts/cn.ts'
import { Icon } from '../parts/icon.tsx'
import { lasted } from '../parts/lasted.ts'
import { TeamMark } from '../parts/team.tsx'
import { clock, day, moment } from '../parts/time.ts'
import { turnHref, TURNS_LISTED, type TurnItem, type TurnList } from './trace-view.ts'
import { Badge } from '../ui/badge.tsx'

interface Props {
  session: string
  list: TurnList
}

/** All turns, a hundred at a time. On a phone the list folds into one line, without script. */
export const TraceTurns = ({ session, list }: Props) => (
  <>
    <details className="peer shrink-0 border-b lg:hidden">
      <summary className="flex h-10 cursor-pointer list-none items-center gap-2 px-4 text-[13px] font-medium">
        <Icon name="chevron" className="size-3.5 text-muted-foreground [details[open]>summary>&]:rotate-90" />
        Turns <span className="font-normal text-muted-foreground tabular-nums">{list.total.toLocaleString('en')}</span>
      </summary>
    </details>
    <nav
      aria-label="Turns"
      className="thin-scroll min-h-0 shrink-0 overflow-y-auto max-lg:hidden max-lg:max-h-[60dvh] max-lg:border-b max-lg:peer-open:block lg:w-80 lg:border-r xl:w-96"
    >
      <ol id="turns">
        <TurnRows session={session} list={list} earlier later />
      </ol>
    </nav>
  </>
)

/** A page of the list, with links to earlier and later turns. */
export const TurnRows = ({ session, list, earlier, later }: Props & { earlier?: boolean; later?: boolean }) => {
  const { items, current, total } = list
  const [first, last] = [items[0]?.ordinal ?? 1, items.at(-1)?.ordinal ?? total]
  return (
    <>
      {earlier && first > 1 && (
        <More href={turnHref(session, first - 1)} part="earlier">
          Earlier turns
        </More>
      )}
      {items.map((item, i) => (
        <TurnRow key={item.ordinal} session={session} item={item} current={item.ordinal === current} newDay={newDay(item, items[i - 1])} />
      ))}
      {later && last < total && (
        <More href={turnHref(session, last + 1)} part="later">
          {Math.min(TURNS_LISTED, total - last)} more of {total.toLocaleString('en')} turns
        </More>
      )}
    </>
  )
}

const More = ({ href, part, children }: { href: string; part: string; children: ReactNode }) => (
  <li data-piece="" className="border-b text-center text-[12.5px] last:border-b-0">
    <a href={href} data-part={part} className="block px-4 py-3 text-muted-foreground hover:bg-accent hover:text-foreground">
      {children}
    </a>
  </li>
)

const newDay = (item: TurnItem, before: TurnItem | undefined) =>
  before === undefined || day(before.at) !== day(item.at) ? day(item.at) : undefined

const TOOLS = 4

const TurnRow = ({ session, item, current, newDay }: { session: string; item: TurnItem; current: boolean; newDay: string | undefined }) => {
  const { ordinal, line, team, at, updatedAt, events, tools, lacks } = item
  return (
    <li className="border-b [content-visibility:auto] [contain-intrinsic-size:auto_64px]">
      {newDay && <p className="border-b bg-muted/50 px-4 py-1 text-[11px] text-muted-foreground">{newDay}</p>}
      <a
        href={turnHref(session, ordinal)}
        data-part="turn"
        aria-current={current ? 'page' : undefined}
        className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-2.5 px-4 py-2.5 -outline-offset-2 hover:bg-accent/50 aria-[current]:bg-accent aria-[current]:shadow-[inset_2px_0_var(--brand)]"
      >
        <span className="min-w-5 pt-px text-right font-mono text-[11px] leading-5 text-muted-foreground tabular-nums">{ordinal}</span>
        <span className="min-w-0">
          <span className={cn('block truncate text-[13px] leading-5', line === undefined ? 'text-muted-foreground italic' : 'font-medium')}>
            {line === undefined ? 'no prompt' : escapeInvisible(line)}
          </span>
          <span className="mt-0.5 flex min-w-0 flex-wrap items-center gap-x-1.5 text-[11.5px] text-muted-foreground tabular-nums">
            {team && (
              <>
                <TeamMark team={team} size="tiny" />
                <span className="max-w-40 truncate">{escapeInvisible(team.name)}</span>
                <Dot />
              </>
            )}
            <time dateTime={at} title={moment(at)}>
              {clock(at)}
            </time>
            {events > 1 && (
              <>
                <Dot />
                <span>{lasted(at, updatedAt)}</span>
                <Dot />
                <span>{events.toLocaleString('en')} events</span>
              </>
            )}
            {lacks && (
              <Badge variant="warn" className="leading-4">
                {lacks}
              </Badge>
            )}
          </span>
          {tools.length > 0 && (
            <span className="mt-0.5 block truncate font-mono text-[11px] text-muted-foreground">
              {escapeInvisible(tools.slice(0, TOOLS).join(', '))}
              {tools.length > TOOLS && ` +${tools.length - TOOLS}`}
            </span>
          )}
        </span>
      </a>
    </li>
  )
}

const Dot = () => <span aria-hidden="true">·</span>
