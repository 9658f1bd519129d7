import { escapeInvisible } from '../../src/core/text/escape-invisible.ts'
import { itemAnchor } from '../board/board-view.ts'
import { editedFields } from '../parts/edited-fields.ts'
import { cn } from '../parts/cn.ts'
import { Markdown } from '../parts/markdown.tsx'
import { TextLink } from '../parts/text-link.tsx'
import { clock, dueAt, moment, shortDay } from '../parts/time.ts'
import { inDialog } from '../session/session-actions.tsx'
import { FOR_ACTORS } from '../session/warning-strip.tsx'
import { Badge } from '../ui/badge.tsx'
import { LinkButton } from '../ui/button.tsx'
import { recordAnchor, type RecordView, type Who } from './record-view.ts'

interface Props {
  record: RecordView
  /** The list is of one session, whose title stands above it. */
  within: boolean
}

const TYPES = { action: 'Action item', decision: 'Decision' }
const STATUSES: Record<RecordView['status'], string> = {
  'in force': '',
  withdrawn: 'font-medium text-warn-foreground',
  open: 'font-medium text-foreground',
  claimed: 'font-medium text-foreground',
  done: 'text-ok-foreground',
  dropped: '',
}
const isOver = ({ status }: RecordView) => status === 'withdrawn' || status === 'dropped'

/** A decision or an action item, and where it comes from. */
export const RecordRow = ({ record, within }: Props) => {
  const { id, type, session, title, description, rationale, status, at, result, withdrawn } = record
  return (
    <li id={recordAnchor(id)} tabIndex={-1} className="record" data-archived={(!within && session.archived) || undefined}>
      <p className="flex items-center gap-x-2 text-[12px] leading-5 text-muted-foreground">
        <Badge variant={type === 'decision' ? 'concluded' : 'secondary'}>{TYPES[type]}</Badge>
        <Status record={record} className={STATUSES[status]} />
        {!within && (
          <TextLink quiet href={`/sessions/${session.id}/records#${recordAnchor(id)}`} dir="auto" className="min-w-0 truncate">
            {escapeInvisible(session.title)}
          </TextLink>
        )}
        <time dateTime={at} title={moment(at)} className="ml-auto shrink-0 tabular-nums">
          {shortDay(at)}
        </time>
      </p>
      <h3
        dir="auto"
        className={cn('text-[14px] leading-5.5 font-semibold wrap-anywhere', isOver(record) && 'text-muted-foreground line-through')}
      >
        {escapeInvisible(title)}
      </h3>
      {withdrawn && (
        <p className="text-[12.5px] text-muted-foreground wrap-anywhere">
          {status === 'withdrawn' ? 'Withdrawn' : 'Dropped'}
          {withdrawn.by !== undefined && (
            <>
              {' '}
              by <bdi className="text-foreground">{escapeInvisible(withdrawn.by)}</bdi>
            </>
          )}
          {withdrawn.reason && (
            <>
              : <q dir="auto">{escapeInvisible(withdrawn.reason)}</q>
            </>
          )}
        </p>
      )}
      {description && <Markdown text={description} />}
      <Facts record={record} />
      {result && <Fold label="What came of it" text={result} open />}
      {rationale && <Fold label="Why" text={rationale} />}
      <div className="flex flex-wrap items-end gap-x-3">
        <Provenance record={record} />
        {!record.over && (
          <span className={`ml-auto archived:hidden ${FOR_ACTORS}`}>
            <LinkButton variant="ghost" size="sm" className="record-act" {...inDialog(`/sessions/${session.id}/records/${id}/withdraw`)}>
              Withdraw
            </LinkButton>
          </span>
        )}
      </div>
    </li>
  )
}

const WHOLE = 'shrink-0 whitespace-nowrap'

const Status = ({ record: { id, type, status, session, team }, className }: { record: RecordView; className: string }) => {
  if (type === 'decision') return <span className={cn(WHOLE, className)}>{status}</span>
  const word = status === 'claimed' && team !== undefined ? 'in hand' : status
  const all = status === 'done' || status === 'dropped' ? '?all=1' : '' // a board shows the newest of these
  return (
    <TextLink quiet href={`/sessions/${session.id}/board${all}#${itemAnchor(id)}`} className={cn(WHOLE, className)}>
      {word}
    </TextLink>
  )
}

const Facts = ({ record: { type, whose, due, priority, team, status } }: { record: RecordView }) => {
  const held = team !== undefined && (status === 'claimed' || status === 'done')
  if (!whose && !due && !held && priority !== 'high' && priority !== 'low') return null
  return (
    <p className="flex flex-wrap gap-x-4 text-[12.5px] leading-5 text-muted-foreground">
      {whose && (
        <span className="min-w-0 wrap-anywhere">
          {type === 'action' ? 'Owner ' : 'Decided by '}
          <PersonLink who={whose} />
        </span>
      )}
      {due && (
        <span>
          Due{' '}
          <time dateTime={due} title={moment(due)} className="text-foreground">
            {dueAt(due)}
          </time>
        </span>
      )}
      {priority === 'high' && <span className="font-medium text-warn-foreground">high priority</span>}
      {priority === 'low' && <span>low priority</span>}
      {held && (
        <span className="min-w-0 wrap-anywhere">
          {status === 'done' ? 'Done by ' : 'In hand: '}
          <bdi className="text-foreground">{escapeInvisible(team)}</bdi>
        </span>
      )}
    </p>
  )
}

/** A name that leads to all that is recorded of whoever bears it. Guests, who may not follow it, see the name. */
export const PersonLink = ({ who: { id, name } }: { who: Who }) =>
  id === undefined ? (
    <bdi className="text-foreground">{escapeInvisible(name)}</bdi>
  ) : (
    <a
      href={`/records?owner=${id}`}
      dir="auto"
      className="text-foreground underline-offset-2 hover:underline in-data-guest:pointer-events-none"
    >
      {escapeInvisible(name)}
    </a>
  )

// Who proposed, who approved, what the approver changed, and what was said.
const Provenance = ({ record }: { record: RecordView }) => {
  const { aiAssisted, proposedBy, approvedBy, approvedAt, edited, proposal, source, session } = record
  return (
    <p className="record-origin text-[12px] leading-5 text-muted-foreground wrap-anywhere">
      {aiAssisted && <span className="mr-0.5 rounded border px-1 py-px text-[11px] font-medium text-foreground">AI-assisted</span>} proposed
      by <PersonLink who={proposedBy} />, approved by <PersonLink who={approvedBy} />{' '}
      <time dateTime={approvedAt} title={moment(approvedAt)} className="whitespace-nowrap tabular-nums">
        at {clock(approvedAt)} UTC
      </time>
      {edited.length > 0 && <> with another {editedFields(edited)}</>}
      {' · '}
      <TextLink quiet href={`/approvals/${proposal}`} className="in-data-guest:hidden">
        what was proposed
      </TextLink>
      {source?.sequence !== undefined && (
        <>
          <span className="in-data-guest:hidden">, </span>
          <TextLink quiet href={`/sessions/${session.id}?around=${source.sequence}#m${source.sequence}`}>
            what was said
          </TextLink>
        </>
      )}
    </p>
  )
}

const Fold = ({ label, text, open = false }: { label: string; text: string; open?: boolean }) => (
  <details open={open}>
    <summary className="w-fit cursor-pointer text-[12.5px] text-muted-foreground hover:text-foreground max-sm:py-1.5">{label}</summary>
    <Markdown text={text} />
  </details>
)
