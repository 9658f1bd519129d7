import type { ReactNode } from 'react'
import { escapeInvisible } from '../../src/core/text/escape-invisible.ts'
import { Icon } from '../parts/icon.tsx'
import { TeamName } from '../parts/team.tsx'
import { TextLink } from '../parts/text-link.tsx'
import { moment } from '../parts/time.ts'
import { inDialog } from '../session/session-actions.tsx'
import { FOR_ACTORS } from '../session/warning-strip.tsx'
import { LinkButton } from '../ui/button.tsx'
import { Empty } from '../ui/empty.tsx'
import type { BoardView, ListName, WorkItem, WorkLine } from './board-view.ts'
import { PlanLine } from './plan-line.tsx'
import { WorkRow } from './work-row.tsx'

const NAMES: Record<ListName, string> = { ready: 'Free to take', blocked: 'Blocked', claimed: 'Claimed', done: 'Done', dropped: 'Dropped' }

/** A session's board: what can be taken, what waits, who does what, what came of it. The same for all viewers: what only some may do shows
 *  to those (shell.tsx). */
export const Board = ({ board }: { board: BoardView }) => {
  const { session, plan, lists, olderDone, olderDropped, lately } = board
  if (plan.total + lists.dropped.length === 0) return <NoWork session={session} />
  return (
    <div className="board pb-6">
      <div className="flex items-start gap-3 px-4 pt-3 sm:px-6">
        <PlanLine plan={plan} />
        <AddWork session={session} />
      </div>
      <List name="claimed" session={session} items={lists.claimed} empty="Nobody holds anything." />
      <List name="ready" session={session} items={lists.ready} empty="Nothing is free to take." />
      {lists.blocked.length > 0 && <List name="blocked" session={session} items={lists.blocked} />}
      {lists.done.length > 0 && (
        <List name="done" session={session} items={lists.done} count={lists.done.length + olderDone}>
          {olderDone > 0 && <Older session={session}>{olderDone} more that were done earlier</Older>}
        </List>
      )}
      {lists.dropped.length > 0 && (
        <Fold label="Dropped" count={lists.dropped.length + olderDropped}>
          <Rows session={session} items={lists.dropped} label="Dropped" />
          {olderDropped > 0 && <Older session={session}>{olderDropped} more that were dropped earlier</Older>}
        </Fold>
      )}
      {lately.length > 0 && (
        <Fold label="Lately">
          <ol className="px-4 sm:px-6">
            {lately.map((line) => (
              <Lately key={line.sequence} line={line} />
            ))}
          </ol>
        </Fold>
      )}
    </div>
  )
}

const Older = ({ session, children }: { session: string; children: ReactNode }) => (
  <TextLink quiet href={`/sessions/${session}/board?all=1`} className="inline-block px-4 pt-2 text-[12.5px] text-muted-foreground sm:px-6">
    {children}
  </TextLink>
)

interface ListProps {
  name: ListName
  session: string
  items: WorkItem[]
  count?: number
  empty?: string
  children?: ReactNode
}

const List = ({ name, session, items, count = items.length, empty, children }: ListProps) => (
  <section aria-labelledby={`board-${name}`} className="mt-4">
    <Title id={`board-${name}`} name={NAMES[name]} count={count} />
    {items.length > 0 ? (
      <Rows session={session} items={items} label={NAMES[name]} />
    ) : (
      <p className="px-4 py-1.5 text-[12.5px] text-muted-foreground sm:px-6">{empty}</p>
    )}
    {children}
  </section>
)

const HEADING = 'text-[12px] font-medium text-muted-foreground'

const Title = ({ id, name, count }: { id: string; name: string; count: number }) => (
  <h3 id={id} className={`${HEADING} flex gap-1.5 px-4 pb-1 sm:px-6`}>
    {name} <span className="font-normal tabular-nums">{count}</span>
  </h3>
)

const Rows = ({ session, items, label }: { session: string; items: WorkItem[]; label: string }) => (
  <ul aria-label={label} className="divide-y border-t border-b bg-card">
    {items.map((item) => (
      <WorkRow key={item.id} session={session} item={item} />
    ))}
  </ul>
)

// Its id keeps a morph from opening another fold in its place when one comes or goes.
const Fold = ({ label, count, children }: { label: string; count?: number; children: ReactNode }) => (
  <details id={`board-${label.toLowerCase()}`} className="mt-4">
    <summary className={`${HEADING} flex w-fit cursor-pointer list-none items-center gap-1.5 px-4 pb-1 hover:text-foreground sm:px-6`}>
      {label} {count !== undefined && <span className="font-normal tabular-nums">{count}</span>}
      <Icon name="chevron" className="size-3 transition-transform in-open:rotate-90" />
    </summary>
    {children}
  </details>
)

const Lately = ({ line: { at, when, team, words } }: { line: WorkLine }) => (
  <li className="flex gap-3 py-0.5 text-[12.5px] leading-5 text-muted-foreground">
    <time dateTime={at} title={moment(at)} className="shrink-0 text-[11px] leading-5 tabular-nums">
      {when}
    </time>
    <span className="min-w-0 wrap-anywhere">
      {team && <TeamName team={team} />} <span dir="auto">{escapeInvisible(words)}</span>
    </span>
  </li>
)

const AddWork = ({ session }: { session: string }) => (
  <span className={`ml-auto shrink-0 concluded:hidden ${FOR_ACTORS}`}>
    <LinkButton variant="outline" size="sm" className="max-sm:h-9" {...inDialog(`/sessions/${session}/board/new`)}>
      Add an item
    </LinkButton>
  </span>
)

const NoWork = ({ session }: { session: string }) => (
  <Empty icon={<Icon name="turns" />} title="Nothing is planned">
    Teams divide their work here: <code>plan_work</code> puts it on the board,
    <br className="max-sm:hidden" /> <code>claim_work</code> takes the next piece.
    <div className={`mt-4 concluded:hidden ${FOR_ACTORS}`}>
      <LinkButton variant="outline" {...inDialog(`/sessions/${session}/board/new`)}>
        Add an item
      </LinkButton>
    </div>
  </Empty>
)
