import { Fragment } from 'react'
import { escapeInvisible } from '../../src/core/text/escape-invisible.ts'
import { cn } from '../parts/cn.ts'
import { Markdown } from '../parts/markdown.tsx'
import type { PermissionItem, PromptedBy, TaskItem } from '../agents/agent-view.ts'
import { PermissionRow } from '../agents/permission-card.tsx'
import { TaskFold } from '../agents/task-line.tsx'
import { ProposalRow, type ProposalItem } from '../approvals/proposal-row.tsx'
import { EditRow, type EditItem } from './edit-row.tsx'
import { EventRow, type EventItem } from './event-row.tsx'
import { QuestionMark, type QuestionItem } from './question-mark.tsx'
import { TeamMark, TeamName, type Team } from '../parts/team.tsx'
import { TextLink } from '../parts/text-link.tsx'
import { clock, moment } from '../parts/time.ts'

export interface MessageItem {
  kind: 'message'
  sequence: number
  at: string
  team: Team
  text: string
  /** The message follows another of the same author within minutes, and shows no name. */
  continues: boolean
  /** The message is a prompt for the session's agent. */
  prompt: boolean
  /** Who gave it, and what became of it. */
  promptedBy: PromptedBy | undefined
  task: TaskItem | undefined
  answers: RepliedTo | undefined
  to: string[]
  /** The message is a question to those in `to`. */
  question: QuestionItem | undefined
}

interface RepliedTo {
  sequence: number
  name: string
  /** It is the author's own question, which nobody need answer any more. */
  withdraws: boolean
}

export type FeedItem = (MessageItem | EventItem | EditItem | PermissionItem | ProposalItem) & {
  /** The day that begins with this row. */
  newDay: string | undefined
}

/** One item of the feed: on the page from the start, or brought later. */
export const FeedRow = ({ item }: { item: FeedItem }) => (
  <>
    {item.newDay && <DayRow day={item.newDay} />}
    {item.kind === 'message' && <MessageRow item={item} />}
    {item.kind === 'event' && <EventRow item={item} />}
    {item.kind === 'edit' && <EditRow item={item} />}
    {item.kind === 'permission' && <PermissionRow item={item} />}
    {item.kind === 'proposal' && <ProposalRow item={item} />}
  </>
)

const DayRow = ({ day }: { day: string }) => (
  <li className="flex items-center gap-3 px-4 pt-4 pb-1 text-[11px] text-muted-foreground before:h-px before:flex-1 before:bg-border after:h-px after:flex-1 after:bg-border">
    {day}
  </li>
)

const MessageRow = ({ item }: { item: MessageItem }) => (
  <li
    id={`m${item.sequence}`}
    className={cn('row row-message group relative flex gap-3 px-4 hover:bg-accent/50', item.continues ? 'py-0.5' : 'pt-3 pb-0.5')}
  >
    {item.continues ? <QuietTime item={item} /> : <TeamMark team={item.team} />}
    <div className="min-w-0 flex-1 sm:pr-6">
      {!item.continues && <MessageHead item={item} />}
      {item.answers && <Answers {...item.answers} />}
      <Markdown text={item.text} />
      {item.question && <QuestionMark item={item.question} />}
      {item.task && <TaskFold task={item.task} />}
    </div>
  </li>
)

const MessageHead = ({ item: { team, prompt, promptedBy, to, sequence, at } }: { item: MessageItem }) => (
  <div className="mb-0.5 flex items-baseline gap-2 sm:-mr-6">
    <span className={cn('truncate text-[13px] [&>b]:font-semibold', to.length > 0 ? 'max-w-1/2 shrink-0' : 'min-w-0')}>
      {promptedBy ? <Prompter by={promptedBy} /> : <TeamName team={team} />}
    </span>
    {!promptedBy && (team.hue === undefined || prompt) && (
      <span className="shrink-0 text-[11.5px] text-muted-foreground">{prompt ? 'prompt' : 'person'}</span>
    )}
    {to.length > 0 && (
      <span title={escapeInvisible(to.join(', '))} className="min-w-0 truncate text-[11.5px] text-muted-foreground">
        to{' '}
        {to.map((name, i) => (
          <Fragment key={name}>
            {i > 0 && ', '}
            <bdi>{escapeInvisible(name)}</bdi>
          </Fragment>
        ))}
      </span>
    )}
    <a
      href={`#m${sequence}`}
      aria-label={`Message ${sequence}, ${clock(at)}`}
      className="ml-auto shrink-0 text-[11px] text-muted-foreground tabular-nums hover:text-foreground"
    >
      <span className="mr-0.5 opacity-0 transition-opacity group-hover:opacity-100 group-focus-within:opacity-100">#{sequence}</span>{' '}
      <time dateTime={at} title={moment(at)}>
        {clock(at)}
      </time>
    </a>
  </div>
)

const Prompter = ({ by: { kind, name, session } }: { by: PromptedBy }) => (
  <>
    <span className="text-[12.5px] text-muted-foreground">Prompted by {kind === 'key' && 'the key '}</span>
    {session === undefined ? (
      <bdi className="font-semibold text-foreground">{escapeInvisible(name)}</bdi>
    ) : (
      <TextLink href={`/sessions/${session}`} className="font-semibold">
        <bdi>{escapeInvisible(name)}</bdi> in its session
      </TextLink>
    )}
  </>
)

const QuietTime = ({ item: { sequence, at } }: { item: MessageItem }) => (
  <a
    href={`#m${sequence}`}
    aria-label={`Message ${sequence}, ${clock(at)}`}
    title={`#${sequence}, ${moment(at)}`}
    className="w-7 shrink-0 pt-0.5 text-center text-[10px] text-muted-foreground tabular-nums opacity-0 group-hover:opacity-100 focus-visible:opacity-100"
  >
    {clock(at)}
  </a>
)

const Answers = ({ sequence, name, withdraws }: RepliedTo) => (
  <a href={`#m${sequence}`} className="mb-0.5 block truncate text-[11.5px] text-muted-foreground hover:text-foreground">
    {withdraws ? (
      '↗ withdraws the question'
    ) : (
      <>
        ↗ answers <bdi>{escapeInvisible(name)}</bdi>
      </>
    )}
    , #{sequence}
  </a>
)
