import type { ReactNode } from 'react'
import { escapeInvisible } from '../../src/core/text/escape-invisible.ts'
import { cn } from '../parts/cn.ts'
import { Markdown } from '../parts/markdown.tsx'
import { TeamName } from '../parts/team.tsx'
import { TextLink } from '../parts/text-link.tsx'
import { dueAt, moment } from '../parts/time.ts'
import { Badge } from '../ui/badge.tsx'
import { ProposalActs, type Attempt } from './proposal-acts.tsx'
import { ProposalLine } from './proposal-line.tsx'
import { anchorOf, type ProposalView, type TimeLeft } from './proposal-view.ts'
import { Replaced } from './replaced.tsx'

interface Props {
  proposal: ProposalView
  /** Where it stands: in the feed of its session, whose row says by whom and what; alone or among those of other sessions. */
  place?: 'feed' | 'past' | undefined
  /** A form of it that was not applied. */
  attempt?: Attempt | undefined
}

/** A proposal: whole while it waits for a person, one line once it is decided. The same in the feed, in the inbox, on its own page and in the
 *  stream of an open page. */
export const ProposalCard = ({ proposal, place, attempt }: Props) => {
  const anchor = anchorOf(proposal.id)
  const open = proposal.status === 'pending'
  const archived = proposal.session.archived && place !== 'feed' // the page of its session knows by itself, also when that changes
  return (
    <article
      id={anchor}
      tabIndex={-1}
      aria-labelledby={`${anchor}-title`}
      data-card={open ? 'open' : 'done'}
      data-archived={archived || undefined}
      className={cn(
        'card min-w-0 rounded-lg border text-[13px]',
        !open ? 'bg-muted/40' : place === 'feed' ? 'border-warn/50 bg-warn/8' : 'bg-card shadow-xs',
      )}
    >
      {open ? (
        <>
          <Proposed proposal={proposal} place={place} />
          {archived && <Archived />}
          <ProposalActs proposal={proposal} attempt={attempt} />
        </>
      ) : (
        <ProposalLine
          proposal={proposal}
          where={place === 'past'}
          problem={attempt?.problem}
          whole={<Proposed proposal={proposal} place={place} untitled />}
        />
      )}
    </article>
  )
}

const Archived = () => (
  <p className="border-t px-3.5 py-3 text-muted-foreground sm:px-4">Its session is archived. Bring it back to decide.</p>
)

const TYPES = { action: 'Action item', decision: 'Decision' }

/** What is proposed, by whom, and where it comes from. `untitled`: the title stands above already. */
const Proposed = ({ proposal, place, untitled = false }: Pick<Props, 'proposal' | 'place'> & { untitled?: boolean }) => {
  const { type, title, description, rationale, left, source, replaced } = proposal
  const anchor = anchorOf(proposal.id)
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-2.5 px-3.5 pt-3 pb-3 sm:px-4">
      <div className="card-head text-[12px] leading-5 text-muted-foreground">
        {place !== 'feed' && (
          <>
            <Badge variant={type === 'decision' ? 'concluded' : 'secondary'}>{TYPES[type]}</Badge>
            <Origin proposal={proposal} />
          </>
        )}
        {left && (place === 'feed' ? <UntilMark left={left} /> : <TimeLeftMark id={proposal.id} left={left} />)}
      </div>
      {!untitled && (
        <h3 id={`${anchor}-title`} dir="auto" className="text-[14px] leading-5.5 font-semibold wrap-anywhere">
          {escapeInvisible(title)}
        </h3>
      )}
      {description && <Markdown text={description} />}
      {rationale && (
        <div>
          <p className="mb-0.5 text-[12px] font-medium text-muted-foreground">Why</p>
          <Markdown text={rationale} />
        </div>
      )}
      <Facts proposal={proposal} />
      {source && <Source source={source} session={proposal.session.id} />}
      {replaced && <Replaced replaced={replaced} />}
    </div>
  )
}

const SOON = 'font-medium text-warn-foreground'

/** How long the proposal can still be decided. An open inbox puts a new mark in this one's place. */
export const TimeLeftMark = ({ id, left: { words, soon } }: { id: string; left: TimeLeft }) => (
  <span id={`${anchorOf(id)}-left`} className={cn('ml-auto shrink-0 tabular-nums', soon && SOON)}>
    {words}
  </span>
)

// A row of a feed stays as it is while the time goes on.
const UntilMark = ({ left: { until, soon } }: { left: TimeLeft }) => (
  <span className={cn('ml-auto tabular-nums', soon && SOON)}>expires {until}</span>
)

const Origin = ({ proposal: { id, by, session, age, at } }: { proposal: ProposalView }) => (
  <p className="origin wrap-anywhere">
    <TeamName team={by} /> in{' '}
    <TextLink quiet dir="auto" href={`/sessions/${session.id}`}>
      {escapeInvisible(session.title)}
    </TextLink>
    <time dateTime={at} title={moment(at)} className="whitespace-nowrap tabular-nums">
      {' · '}
      <AgeMark id={id} age={age} />
    </time>
  </p>
)

/** How long ago it was proposed. An open inbox puts a new one in its place. */
export const AgeMark = ({ id, age }: { id: string; age: string }) => <span id={`${anchorOf(id)}-age`}>{age}</span>

const PRIORITIES = { high: 'font-medium text-warn-foreground', medium: '', low: 'text-muted-foreground' }

const Facts = ({ proposal: { type, owner, due, priority, decidedBy } }: { proposal: ProposalView }) => {
  const name = (one: string) => <bdi>{escapeInvisible(one)}</bdi>
  if (type === 'decision' && decidedBy === undefined) return null
  const nobody = <span className="text-muted-foreground">nobody yet</span>
  return (
    <dl className="flex flex-wrap gap-x-4 gap-y-1 text-[12.5px]">
      {type === 'action' ? (
        <>
          <Fact label="Owner">{owner === undefined ? nobody : name(owner)}</Fact>
          {due !== undefined && (
            <Fact label="Due">
              <time dateTime={due}>{dueAt(due)}</time>
            </Fact>
          )}
          {priority && (
            <Fact label="Priority">
              <span className={PRIORITIES[priority]}>{priority}</span>
            </Fact>
          )}
        </>
      ) : (
        decidedBy !== undefined && <Fact label="Decided by">{name(decidedBy.name)}</Fact>
      )}
    </dl>
  )
}

const Fact = ({ label, children }: { label: string; children: ReactNode }) => (
  <div className="flex min-w-0 gap-1.5">
    <dt className="shrink-0 text-muted-foreground">{label}</dt>
    <dd className="min-w-0 wrap-anywhere">{children}</dd>
  </div>
)

/** What was said, and whether it really stands there. */
const Source = ({ source: { quote, sequence, found }, session }: { source: NonNullable<ProposalView['source']>; session: string }) => (
  <figure className="source text-[12.5px]">
    {quote !== undefined && (
      <blockquote dir="auto" className="whitespace-pre-wrap text-muted-foreground wrap-anywhere">
        {escapeInvisible(quote)}
      </blockquote>
    )}
    <figcaption className="mt-0.5 text-[12px] text-muted-foreground">
      {sequence !== undefined && (
        <TextLink quiet href={`/sessions/${session}?around=${sequence}#m${sequence}`}>
          Message {sequence}
        </TextLink>
      )}
      {quote !== undefined && sequence !== undefined && ': '}
      {quote !== undefined &&
        (found ? (
          <span className="text-ok-foreground">found in the message</span>
        ) : (
          <span className="font-medium text-warn-foreground">{sequence === undefined ? 'names no message' : 'not found there'}</span>
        ))}
    </figcaption>
  </figure>
)
