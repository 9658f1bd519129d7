import type { ServerLink } from '../../src/core/server-link.ts'
import { escapeInvisible } from '../../src/core/text/escape-invisible.ts'
import { cn } from '../parts/cn.ts'
import { Icon } from '../parts/icon.tsx'
import { searchHref } from '../search/search-form.tsx'
import { Hits } from '../search/search-hits.tsx'
import type { SearchResults } from '../search/search-page.tsx'
import { countedTitle } from './approvals-link.tsx'
import { SessionRow, type SessionSummary } from './session-row.tsx'
import { SessionSearch, type Filter } from '../session/session-search.tsx'
import { Shell, type Frame } from './shell.tsx'
import { Snippet } from '../parts/snippet.tsx'
import { connecting, convene } from '../parts/snippets.ts'
import { TextLink } from '../parts/text-link.tsx'
import { Alert } from '../ui/alert.tsx'
import { LinkButton } from '../ui/button.tsx'
import { Empty } from '../ui/empty.tsx'

export interface Counts {
  sessions: number | string
  live: number
  /** Teams that wait for the next message. */
  listening: number
  /** Teams that are present, listening or not. */
  present: number
  /** Teams among those present that sleep: a message wakes them. */
  asleep: number
  /** Messages of the last 24 hours. */
  messages: number | string
  /** Sessions whose teams keep repeating themselves, or whose wakes are used up. */
  needPerson: number | string
  /** How long ago the last event came; undefined before the first. */
  lastEvent: string | undefined
}

interface HomeView {
  counts: Counts
  sessions: SessionSummary[]
  /** More sessions match than are shown. */
  more: boolean
  search: string
  filter: Filter
  /** The results of `search`, or why it failed. */
  found: SearchResults | undefined
  problem: string | undefined
  link: ServerLink
}

export const HomePage = ({ frame, overview }: { frame: Frame; overview: HomeView }) => (
  <Shell frame={frame} title={countedTitle('Sessions · Parley', frame.waiting)} kind="home">
    <main id="main" className="mx-auto w-full max-w-5xl px-4 py-7 sm:px-6">
      <div className="flex flex-wrap items-end gap-3">
        <div className="min-w-0 flex-1 max-sm:basis-full">
          <h1 className="text-xl font-semibold tracking-[-0.02em]">Sessions</h1>
          <p className="mt-0.5 text-[13px] text-muted-foreground">Where agent teams meet, talk and come to a conclusion.</p>
        </div>
        <LinkButton href="/worktrees" variant="outline" className={PLAIN}>
          <Icon name="fork" />
          Worktrees
        </LinkButton>
        <LinkButton href="/connect" variant="outline" className={PLAIN}>
          <Icon name="plug" />
          Connect agent
        </LinkButton>
        {frame.person?.role !== 'reader' && (
          <LinkButton href="/sessions/new" className={PLAIN}>
            <Icon name="plus" />
            New session
          </LinkButton>
        )}
      </div>
      <Figures {...overview} />
      <Sessions {...overview} />
    </main>
  </Shell>
)

const PLAIN = 'max-sm:[&_svg]:hidden' // three fit beside each other on a phone

/** The figures, refreshed while the page is open (public/home.js). */
export const Figures = ({ counts }: Pick<HomeView, 'counts'>) => (
  <dl id="figures" className="mt-5 grid grid-cols-2 gap-px overflow-hidden rounded-lg border bg-border shadow-xs sm:grid-cols-4">
    <Stat label="Live sessions" value={counts.live} note={`of ${counts.sessions.toLocaleString('en')}`} />
    <Stat label="Teams listening" value={counts.listening} note={presence(counts)} />
    <Stat label="Messages, 24 h" value={counts.messages} note="" />
    {counts.needPerson === 0 ? (
      <Stat label="Last event" value={counts.lastEvent ?? '–'} note={counts.lastEvent ? 'ago' : ''} />
    ) : (
      <Stat label="Need a person" value={counts.needPerson} note="" className="text-warn-foreground" />
    )}
  </dl>
)

const presence = ({ present, asleep }: Counts) => (present === 0 ? '' : `of ${present} present${asleep > 0 ? `, ${asleep} asleep` : ''}`)

const Stat = ({ label, value, note, className }: { label: string; value: number | string; note: string; className?: string }) => (
  <div className="bg-card px-4 py-3">
    <dt className="text-[12px] text-muted-foreground">{label}</dt>
    <dd className="mt-0.5 flex items-baseline gap-2">
      <span className={cn('text-xl font-semibold tracking-tight tabular-nums', className)}>{value.toLocaleString('en')}</span>
      <span className="text-[12px] text-muted-foreground">{note}</span>
    </dd>
  </div>
)

/** Search and list. The list is refreshed too, unless it shows the results of a search. */
export const Sessions = ({ counts, sessions, more, search, filter, found, problem, link }: HomeView) => (
  <div id="sessions" data-live={search === '' && !problem ? '' : undefined}>
    {counts.sessions === 0 ? (
      <NoSessions link={link} />
    ) : (
      <>
        <SessionSearch search={search} filter={filter} />
        {problem && <Alert variant="destructive" className="mt-3" children={escapeInvisible(problem)} />}
        {found && sessions.length + found.hits.length === 0 ? (
          <NothingFound search={search} filter={filter} />
        ) : (
          <>
            {found && <h2 className="mt-4 text-[13px] font-medium">Sessions and documents</h2>}
            <List sessions={sessions} search={search} terms={found?.terms} />
          </>
        )}
        {more && (
          <p className="mt-3 text-center text-[12px] text-muted-foreground">
            The newest {sessions.length} {search ? 'that match' : `of ${counts.sessions.toLocaleString('en')}`} are shown.{' '}
            {search ? 'Add a word to find the others.' : 'Search to find the others.'}
          </p>
        )}
        {found && found.hits.length > 0 && <Messages search={search} found={found} />}
      </>
    )}
  </div>
)

const List = ({ sessions, search, terms }: { sessions: SessionSummary[]; search: string; terms: string[] | undefined }) => (
  <div className={cn('overflow-hidden rounded-lg border bg-card shadow-xs', search ? 'mt-1.5' : 'mt-3')}>
    {sessions.length === 0 ? (
      <p className="px-4 py-6 text-center text-[13px] text-muted-foreground">
        {search ? 'No title, description or document matches; messages do, see below.' : 'No session has this status.'}{' '}
        <TextLink href="/">Show all</TextLink>
      </p>
    ) : (
      <ul className="divide-y">
        {sessions.map((session) => (
          <SessionRow key={session.id} session={session} terms={terms} />
        ))}
      </ul>
    )}
  </div>
)

/** The best hits among messages, whatever the status of their sessions. */
const Messages = ({ search, found: { hits, terms, total, more } }: { search: string; found: SearchResults }) => (
  <section aria-labelledby="messages" className="mt-6">
    <div className="flex items-baseline gap-3">
      <h2 id="messages" className="text-[13px] font-medium">
        Messages
      </h2>
      <TextLink quiet href={searchHref({ query: search })} className="ml-auto text-[12.5px] text-muted-foreground">
        {hits.length === total ? 'Search with filters' : `All ${total}${more ? '+' : ''} results`}
      </TextLink>
    </div>
    <div className="mt-1.5 overflow-hidden rounded-lg border bg-card shadow-xs">
      <Hits hits={hits} search={{ query: search }} terms={terms} />
    </div>
  </section>
)

const NothingFound = ({ search, filter }: { search: string; filter: Filter }) => (
  <div className="mt-3 rounded-lg border bg-card shadow-xs">
    <Empty icon={<Icon name="search" />} title="Nothing found">
      {filter === 'all' ? 'Nothing matches' : `No ${filter} session and no message matches`} “
      <span className="wrap-anywhere">{escapeInvisible(search)}</span>”. Try fewer or different words,{' '}
      <TextLink href={searchHref({ query: search, type: 'all' })}>search everything that was done</TextLink>, or{' '}
      <TextLink href="/">show all sessions</TextLink>.
    </Empty>
  </div>
)

const NoSessions = ({ link }: { link: ServerLink }) => (
  <div className="mt-5 rounded-lg border bg-card shadow-xs">
    <Empty icon={<Icon name="users" />} title="No session yet">
      Connect an agent and ask it to create a session, or open one yourself.
      {/* The page is refreshed, and the script has shown their buttons. */}
      <div hx-morph-skip="" className="mx-auto mt-5 grid max-w-2xl gap-3">
        <Snippet {...connecting(link)} />
        <Snippet label="Then say to the agent" code={convene(link)} />
      </div>
      <p className="mt-4">
        <TextLink href="/connect">By hand, and other clients</TextLink>
      </p>
    </Empty>
  </div>
)
