import { escapeInvisible } from '../../src/core/text/escape-invisible.ts'
import { cn } from '../parts/cn.ts'
import { Markdown } from '../parts/markdown.tsx'
import { TeamMark, TeamName } from '../parts/team.tsx'
import { clock, dueAt, moment } from '../parts/time.ts'
import { recordHref } from '../approvals/proposal-view.ts'
import { itemAnchor, type WorkItem } from './board-view.ts'
import { WorkActs } from './work-acts.tsx'

/** One item of a board. */
export const WorkRow = ({ session, item }: { session: string; item: WorkItem }) => {
  const { list, title, description, priority, note, result, paths } = item
  const over = list === 'done' || list === 'dropped'
  return (
    <li id={itemAnchor(item.id)} tabIndex={-1} className="work">
      <Mark item={item} />
      <div className="min-w-0 flex-1">
        <p
          dir="auto"
          className={cn(
            'leading-5 font-medium wrap-anywhere',
            list === 'dropped' && 'text-muted-foreground line-through',
            over && 'font-normal',
          )}
        >
          {escapeInvisible(title)}
          {priority === 'high' && !over && <span className="ml-2 text-[11.5px] text-warn-foreground">high</span>}
        </p>
        <Facts session={session} item={item} />
        {paths.length > 0 && !over && <Paths paths={paths} />}
        {note && <Note text={note} />}
        {list === 'done' && result && <Markdown text={result} className="mt-0.5" />}
        {(description || (over && paths.length > 0)) && (
          <details className="mt-1">
            <summary className="w-fit cursor-pointer text-[12px] text-muted-foreground hover:text-foreground max-sm:py-1.5">
              {description ? 'What is to be done' : 'Paths'}
            </summary>
            {description && <Markdown text={description} className="mt-0.5" />}
            {over && <Paths paths={paths} />}
          </details>
        )}
        <WorkActs session={session} item={item} />
      </div>
    </li>
  )
}

const Mark = ({ item: { list, team } }: { item: WorkItem }) => {
  if (team && list === 'claimed') return <TeamMark team={team} size="small" />
  return (
    <span aria-hidden="true" className="work-mark" data-list={list}>
      {list === 'done' && '✓'}
    </span>
  )
}

// Who, since when, until when; what for, and what it waits for.
const Facts = ({ session, item }: { session: string; item: WorkItem }) => {
  const { id, approved, list, team, since, until, owner, waitsFor, due, plannedBy, changedAt, changed, priority } = item
  return (
    <p className="work-facts">
      {list === 'claimed' && team && (
        <>
          <TeamName team={team} />
          {since && (
            <>
              {' for '}
              <time dateTime={since.at} title={moment(since.at)} className="tabular-nums">
                {since.words}
              </time>
            </>
          )}
          {until && (
            <>
              {', held until '}
              <time dateTime={until} title={moment(until)} className="tabular-nums">
                {clock(until)}
              </time>{' '}
              UTC
            </>
          )}
        </>
      )}
      {list === 'blocked' && (
        <>
          waits for{' '}
          {waitsFor.map(({ id, title, by }, i) => (
            <span key={id}>
              {i > 0 && ', '}
              <a href={`/sessions/${session}/board#${itemAnchor(id)}`} dir="auto">
                {escapeInvisible(title)}
              </a>
              {by !== undefined && (
                <>
                  {' '}
                  (<bdi>{escapeInvisible(by)}</bdi>)
                </>
              )}
            </span>
          ))}
        </>
      )}
      {(list === 'ready' || list === 'blocked') && (
        <>
          {list === 'blocked' && ' · '}
          {owner ? (
            <>
              for <TeamName team={owner} />
            </>
          ) : (
            <>
              planned by <bdi>{escapeInvisible(plannedBy)}</bdi>
            </>
          )}
        </>
      )}
      {(list === 'done' || list === 'dropped') && (
        <>
          {list === 'done' && team && (
            <>
              <TeamName team={team} />
              {', '}
            </>
          )}
          <time dateTime={changedAt} title={moment(changedAt)} className="tabular-nums">
            {changed}
          </time>
        </>
      )}
      {due && list !== 'done' && (
        <>
          {' · due '}
          <time dateTime={due} title={moment(due)}>
            {dueAt(due)}
          </time>
        </>
      )}
      {approved && (
        <>
          {' · '}
          <a href={recordHref(session, id)}>approved</a>
        </>
      )}
      {priority === 'low' && list !== 'done' && ' · low priority'}
    </p>
  )
}

/** Who edits which file. What overlaps another team's claim says whose. */
const Paths = ({ paths }: { paths: WorkItem['paths'] }) => (
  <ul aria-label="Paths" className="work-paths">
    {paths.map(({ path, overlaps }) => (
      <li key={path} data-overlaps={overlaps.length > 0 || undefined}>
        <bdi>{escapeInvisible(path)}</bdi>
        {overlaps.length > 0 && (
          <span className="ml-1 font-sans">
            overlaps <bdi>{escapeInvisible(overlaps.join(', '))}</bdi>
          </span>
        )}
      </li>
    ))}
  </ul>
)

const Note = ({ text }: { text: string }) => (
  <p dir="auto" className="work-note">
    {escapeInvisible(text)}
  </p>
)
