import type { ReactNode } from 'react'
import type { EventType } from '../../src/core/events/event-types.ts'
import { escapeInvisible } from '../../src/core/text/escape-invisible.ts'
import { cn } from '../parts/cn.ts'
import { Icon, iconNamed, type IconName } from '../parts/icon.tsx'
import { lasted } from '../parts/lasted.ts'
import { TeamMark, TeamName } from '../parts/team.tsx'
import { clock, moment } from '../parts/time.ts'
import { TraceBody } from './trace-body.tsx'
import { eventHref, type TraceEvent, type TraceItem } from './trace-view.ts'
import { Badge } from '../ui/badge.tsx'

interface Props {
  session: string
  event: TraceEvent
}

/** The events of a turn, in their order. */
export const TraceRows = ({ session, items }: { session: string; items: TraceItem[] }) =>
  items.map((item) =>
    'notes' in item ? (
      <Notes key={item.notes[0]!.sequence} session={session} notes={item.notes} />
    ) : (
      <Row key={item.event.sequence} session={session} event={item.event} />
    ),
  )

const Row = ({ session, event }: Props) => {
  const { kind } = event
  if (kind === 'user_input' || kind === 'assistant_response') return <MessageRow session={session} event={event} />
  return (
    <Line
      session={session}
      event={event}
      mark={<Tile kind={kind} icon={event.icon === undefined ? undefined : iconNamed(event.icon)} />}
      anchored={kind !== 'tool_call'}
    >
      {kind === 'tool_call' ? <Call session={session} event={event} /> : <Folded session={session} event={event} />}
    </Line>
  )
}

const ROW = 'trace-row relative flex scroll-mt-12 gap-3 px-4'

/** A row: its mark, its content, and its time. */
const Line = ({
  session,
  event,
  mark,
  anchored = true,
  children,
}: Props & { mark: ReactNode; anchored?: boolean; children: ReactNode }) => (
  <li id={anchored ? `e${event.sequence}` : undefined} className={cn(ROW, 'py-1.5', anchored && event.open && 'sought')}>
    {mark}
    <div className="min-w-0 flex-1">{children}</div>
    <Time session={session} event={event} />
  </li>
)

const Time = ({ session, event: { turn, sequence, at } }: Props) => (
  <a
    href={eventHref(session, turn, sequence)}
    title={`#${sequence}, ${moment(at)}`}
    className="h-7 shrink-0 text-[11px] leading-7 text-muted-foreground tabular-nums hover:text-foreground"
  >
    {clock(at)}
    <span className="max-sm:hidden">{at.slice(16, 19)}</span>
    <span className="sr-only">, event {sequence}</span>
  </a>
)

const TYPE_LOOK: Record<EventType, { icon: IconName; label: string; tone?: string }> = {
  user_input: { icon: 'message', label: 'Prompt', tone: 'bg-foreground text-background' },
  assistant_response: { icon: 'spark', label: 'Answer', tone: 'bg-brand/12 text-brand' },
  reasoning: { icon: 'thought', label: 'Thinking' },
  tool_call: { icon: 'tool', label: 'Tool call', tone: 'border bg-card text-foreground' },
  tool_response: { icon: 'result', label: 'Result', tone: 'border bg-card text-foreground' },
  compaction: { icon: 'fold', label: 'Context compacted' },
  system: { icon: 'document', label: 'Event' },
  runtime: { icon: 'settings', label: 'Note' },
  unknown: { icon: 'dot', label: 'Unknown' },
}

const Tile = ({ kind, icon = TYPE_LOOK[kind].icon }: { kind: EventType; icon?: IconName | undefined }) => (
  <span aria-hidden="true" className={cn('grid size-7 shrink-0 place-items-center rounded-md text-muted-foreground', TYPE_LOOK[kind].tone)}>
    <Icon name={icon} className="size-3.5" />
  </span>
)

/** A prompt or an answer, as in the feed. */
const MessageRow = ({ session, event }: Props) => {
  const { kind, who, team, model, terminal, sequence, open } = event
  const by = [team ? '' : who, model].filter(Boolean).join(' · ')
  return (
    <li id={`e${sequence}`} className={cn(ROW, 'pt-3 pb-1.5', open && 'sought')}>
      {team ? <TeamMark team={team} /> : <Tile kind={kind} />}
      <div className="min-w-0 flex-1">
        <div className="flex min-h-7 flex-wrap items-center gap-x-2">
          {team ? (
            <span className="min-w-0 truncate text-[13px] [&>b]:font-semibold">
              <TeamName team={team} />
            </span>
          ) : (
            <b className="text-[13px] font-semibold">{TYPE_LOOK[kind].label}</b>
          )}
          {by && <span className="min-w-0 truncate text-[11.5px] text-muted-foreground">{escapeInvisible(by)}</span>}
          <Terminal terminal={terminal} />
        </div>
        <TraceBody session={session} event={event} />
      </div>
      <Time session={session} event={event} />
    </li>
  )
}

const Terminal = ({ terminal }: { terminal: boolean }) =>
  terminal && (
    <Badge variant="secondary" title="The turn ended with this">
      <Icon name="flag" />
      <span className="max-sm:sr-only">End of turn</span>
    </Badge>
  )

const SUMMARY =
  'flex min-h-7 cursor-pointer list-none items-center gap-2 text-[12.5px] -outline-offset-2 [&::-webkit-details-marker]:hidden'

const Chevron = () => (
  <Icon name="chevron" className="size-3.5 shrink-0 text-muted-foreground transition-transform [details[open]>summary>&]:rotate-90" />
)

/** An event folded to one quiet line. */
const Folded = ({ session, event }: Props) => (
  <details open={event.open} className="group/fold">
    <summary className={cn(SUMMARY, 'text-muted-foreground hover:text-foreground')}>
      <Chevron />
      <span className="shrink-0 font-medium">{labelOf(event)}</span>
      <span className={cn('min-w-0 truncate group-open/fold:invisible', event.kind === 'reasoning' && 'italic')}>
        {escapeInvisible(event.line)}
      </span>
      <span className="flex-1" />
      <Exit event={event} />
      <Terminal terminal={event.terminal} />
    </summary>
    <div className="mt-1 pb-2 text-muted-foreground">
      <TraceBody session={session} event={event} />
      <By event={event} />
    </div>
  </details>
)

const labelOf = ({ kind, tool, note }: TraceEvent) =>
  escapeInvisible(note ?? (kind === 'tool_response' && tool ? `Result of ${tool}` : TYPE_LOOK[kind].label))

/** A tool's call and its response, in one frame. */
const Call = ({ session, event }: Props) => {
  const { sequence, tool, line, open, response, at } = event
  return (
    <div className="overflow-hidden rounded-md border bg-card">
      <details open={open} id={`e${sequence}`} className={cn('trace-part group/call scroll-mt-12 px-2.5', open && 'sought')}>
        <summary className={SUMMARY}>
          <Chevron />
          <b className="max-w-[50%] shrink-0 truncate font-mono text-[12px] font-semibold">{escapeInvisible(tool ?? 'tool')}</b>
          <span className="min-w-0 truncate font-mono text-[12px] text-muted-foreground group-open/call:invisible">
            {escapeInvisible(line)}
          </span>
          <span className="flex-1" />
          {!response && <Terminal terminal={event.terminal} />}
        </summary>
        <div className="mt-1 pb-2.5">
          <TraceBody session={session} event={event} />
          <By event={event} />
        </div>
      </details>
      {response && <Response session={session} event={response} calledAt={at} />}
    </div>
  )
}

const Response = ({ session, event, calledAt }: Props & { calledAt: string }) => (
  <details
    open={event.open}
    id={`e${event.sequence}`}
    className={cn('trace-part group/result scroll-mt-12 border-t bg-muted/40 px-2.5', event.open && 'sought')}
  >
    <summary className={cn(SUMMARY, 'text-muted-foreground')}>
      <Chevron />
      <Icon name="result" className="size-3.5 shrink-0" />
      <span className="sr-only group-open/result:not-sr-only group-open/result:font-medium">Result</span>
      <span className="min-w-0 truncate font-mono text-[12px] group-open/result:invisible">
        {escapeInvisible(event.line) || 'no output'}
      </span>
      <span className="flex-1" />
      <span className="shrink-0 text-[11px] tabular-nums max-sm:hidden" title="From the call to its result">
        {lasted(calledAt, event.at)}
      </span>
      <Exit event={event} />
      <Terminal terminal={event.terminal} />
    </summary>
    <div className="mt-1 pb-2.5">
      <TraceBody session={session} event={event} />
      <p className="mt-1.5 text-[11px]">
        <a href={eventHref(session, event.turn, event.sequence)} className="text-muted-foreground hover:text-foreground">
          #{event.sequence}, {moment(event.at)}
        </a>
      </p>
    </div>
  </details>
)

const Exit = ({ event: { exitCode, failed } }: { event: TraceEvent }) =>
  (exitCode !== undefined || failed) && (
    <Badge variant={failed ? 'secondary' : 'live'} className={failed ? 'bg-destructive/12 text-destructive-foreground' : undefined}>
      {exitCode === undefined ? 'failed' : `exit ${exitCode}`}
    </Badge>
  )

const By = ({ event: { who, model } }: { event: TraceEvent }) =>
  (who || model) && <p className="mt-1.5 text-[11px] text-muted-foreground">{escapeInvisible([who, model].filter(Boolean).join(' · '))}</p>

/** Consecutive runtime notes, folded: few people look for them. */
const Notes = ({ session, notes }: { session: string; notes: TraceEvent[] }) => {
  if (notes.length === 1)
    return (
      <Line session={session} event={notes[0]!} mark={<Tile kind={notes[0]!.kind} />}>
        <Folded session={session} event={notes[0]!} />
      </Line>
    )
  const names = [...new Set(notes.map(labelOf))].join(', ')
  return (
    <li className={cn(ROW, 'py-1.5')}>
      <Tile kind="runtime" />
      <details open={notes.some(({ open }) => open)} className="group/notes min-w-0 flex-1">
        <summary className={cn(SUMMARY, 'text-muted-foreground hover:text-foreground')}>
          <Chevron />
          <span className="shrink-0 font-medium">{notes.length} notes</span>
          <span className="min-w-0 truncate group-open/notes:invisible">{names}</span>
        </summary>
        <ol className="-mx-4 mt-1 border-l pl-1">
          {notes.map((event) => (
            <Line key={event.sequence} session={session} event={event} mark={<Tile kind={event.kind} />}>
              <Folded session={session} event={event} />
            </Line>
          ))}
        </ol>
      </details>
    </li>
  )
}
