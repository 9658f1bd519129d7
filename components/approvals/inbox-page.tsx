import type { ReactNode } from 'react'
import { escapeInvisible } from '../../src/core/text/escape-invisible.ts'
import { hrefWith } from '../parts/href.ts'
import { Icon } from '../parts/icon.tsx'
import { Tabs } from '../parts/tabs.tsx'
import { TextLink } from '../parts/text-link.tsx'
import { countedTitle } from '../site/approvals-link.tsx'
import { Shell, type Frame } from '../site/shell.tsx'
import { Badge } from '../ui/badge.tsx'
import { LinkButton } from '../ui/button.tsx'
import { Empty } from '../ui/empty.tsx'
import { AskedList } from './asked-list.tsx'
import { InboxMark } from './inbox-mark.tsx'
import { AskedForItem, GroupSection, TogetherDone } from './inbox-groups.tsx'
import { INBOX_TABS, type AskedView, type InboxTab, type NeedyView, type TogetherOutcome, type WaitingView } from './inbox-view.ts'
import { ProposalCard } from './proposal-card.tsx'
import type { ProposalView } from './proposal-view.ts'
import { SignInToDecide } from './sign-in-to-decide.tsx'

interface Props {
  frame: Frame
  tab: InboxTab
  /** The one session that is shown. */
  meeting: { id: string; title: string } | undefined
  children: ReactNode
}

const InboxFrame = ({ frame, tab, meeting, children }: Props) => (
  <Shell frame={frame} title={countedTitle('Approvals · Parley', frame.waiting)} crumbs={[{ label: 'Approvals' }]} kind="approvals">
    <main id="main" className="mx-auto w-full max-w-2xl px-4 py-6 sm:px-6">
      <div className="mb-3 flex flex-wrap items-center gap-x-3 gap-y-2">
        <div className="min-w-0 flex-1 basis-32">
          <h1 className="text-xl font-semibold tracking-[-0.02em]">Approvals</h1>
          {meeting && (
            <p className="mt-0.5 text-[13px] text-muted-foreground wrap-anywhere">
              of <bdi className="text-foreground">{escapeInvisible(meeting.title)}</bdi>{' '}
              <TextLink quiet href="/approvals">
                Show all
              </TextLink>
            </p>
          )}
        </div>
        <Tabs
          label="Which"
          tabs={INBOX_TABS.map((name) => ({ label: LABELS[name], href: inboxHref(name, meeting?.id), current: name === tab }))}
        />
      </div>
      {children}
    </main>
  </Shell>
)

const LABELS: Record<InboxTab, string> = { waiting: 'Waiting', decided: 'Decided', expired: 'Expired' }

const inboxHref = (tab: InboxTab, meeting: string | undefined, before?: string): string =>
  hrefWith('/approvals', { show: tab === 'waiting' ? undefined : tab, meeting, before })

interface WaitingProps extends Omit<Props, 'tab' | 'children'> {
  asked: AskedView[]
  now: number
  waiting: WaitingView
  needy: NeedyView[]
  today: Today
  /** What came of proposals that were approved together a moment ago. */
  outcomes: TogetherOutcome[]
}

/** What waits, in the order in which it must be answered. Whatever comes while the page is open goes to the end of its part. */
export const InboxPage = ({ asked, now, waiting, needy, today, outcomes, ...frame }: WaitingProps) => (
  <InboxFrame {...frame} tab="waiting">
    <SignInToDecide frame={frame.frame} />
    {outcomes.length > 0 && (
      <div className="mb-3">
        <TogetherDone outcomes={outcomes} />
      </div>
    )}
    <ul id="requests" aria-label="Permissions that agents ask for" className="inbox-list mb-7">
      {waiting.requests.map((asked) => (
        <AskedForItem key={asked.card.anchor} asked={asked} />
      ))}
    </ul>
    <AskedList asked={asked} now={now} />
    <div id="groups" className="inbox-list">
      {waiting.groups.map((group) => (
        <GroupSection key={group.session.id} group={group} />
      ))}
    </div>
    {waiting.more && (
      <p className="mt-4 text-center text-[12.5px] text-muted-foreground">More wait than are shown: they come up once these are decided.</p>
    )}
    <div className="rounded-lg border bg-card shadow-xs [main:has([data-card=open],[data-asked])_&]:hidden">
      <Empty icon={<Icon name="inbox" />} title="Nothing waits for you">
        <DecidedToday today={today} />
      </Empty>
    </div>
    <Needy sessions={needy} />
    <p id="news" aria-live="polite" className="sr-only" />
    <InboxMark meeting={frame.meeting?.id} />
  </InboxFrame>
)

/** How many were decided today. */
interface Today {
  approved: number
  rejected: number
}

/** A live page puts a new one in its place. */
export const DecidedToday = ({ today: { approved, rejected } }: { today: Today }) => (
  <p id="today">
    {approved + rejected === 0 ? 'Nothing was decided today.' : `Decided today: ${approved} approved, ${rejected} rejected.`}
  </p>
)

/** Sessions in which something went wrong that only a person sets right. A live page puts a new one in its place. */
export const Needy = ({ sessions }: { sessions: NeedyView[] }) => (
  <section id="needy" aria-labelledby="needy-title" hidden={sessions.length === 0} className="mt-6">
    <h2 id="needy-title" className="mb-1.5 text-[13.5px] font-medium">
      Sessions that need a person
    </h2>
    <ul className="divide-y rounded-lg border bg-card shadow-xs">
      {sessions.map(({ id, title, why }) => (
        <li key={id} className="relative flex flex-wrap items-center gap-x-3 gap-y-0.5 px-3.5 py-2.5 text-[13px] hover:bg-accent/50">
          <a dir="auto" href={`/sessions/${id}`} className="min-w-0 font-medium wrap-anywhere after:absolute after:inset-0">
            {escapeInvisible(title)}
          </a>
          <Badge variant="warn">{why}</Badge>
        </li>
      ))}
    </ul>
  </section>
)

interface PastProps extends Omit<Props, 'children'> {
  tab: 'decided' | 'expired'
  proposals: ProposalView[]
  /** Where the older ones begin, if there are any. */
  before: string | undefined
}

const NONE = {
  decided: { title: 'Nothing was decided yet', text: 'What people approve and reject is kept here.' },
  expired: { title: 'Nothing expired', text: 'What nobody decided in time is kept here, and can be brought back.' },
}

/** What does not wait any more, the newest first. */
export const PastPage = ({ proposals, before, ...frame }: PastProps) => (
  <InboxFrame {...frame}>
    <h2 className="sr-only">{LABELS[frame.tab]}</h2>
    {frame.tab === 'expired' && <SignInToDecide frame={frame.frame} />}
    {proposals.length === 0 ? (
      <div className="rounded-lg border bg-card shadow-xs">
        <Empty icon={<Icon name="inbox" />} title={NONE[frame.tab].title}>
          {NONE[frame.tab].text}
        </Empty>
      </div>
    ) : (
      <ul className="inbox-list">
        {proposals.map((proposal) => (
          <li key={proposal.id}>
            <ProposalCard proposal={proposal} place="past" />
          </li>
        ))}
      </ul>
    )}
    {before && (
      <p className="mt-4 text-center">
        <LinkButton variant="outline" className="h-11" href={inboxHref(frame.tab, frame.meeting?.id, before)}>
          Older ones
        </LinkButton>
      </p>
    )}
  </InboxFrame>
)
