import { visible } from '../src/core/visible.ts'
import { Icon } from './icon.tsx'
import { SessionRow, type SessionSummary } from './session-row.tsx'
import { SessionSearch, type Filter } from './session-search.tsx'
import { Shell, type Frame } from './shell.tsx'
import { Snippet } from './snippet.tsx'
import { claude, curlCreate, type Link } from './snippets.ts'
import { LinkButton } from './ui/button.tsx'
import { Empty } from './ui/empty.tsx'

export interface Counts {
  sessions: number
  live: number
  listening: number
  idle: number
  /** How long ago the last event came; undefined before the first. */
  lastEvent: string | undefined
}

interface Props {
  frame: Frame
  counts: Counts
  sessions: SessionSummary[]
  /** More sessions match than are shown. */
  more: boolean
  search: string
  filter: Filter
  link: Link
}

export const HomePage = ({ frame, counts, sessions, more, search, filter, link }: Props) => (
  <Shell frame={frame} title="Sessions · Parley">
    <main id="main" className="mx-auto w-full max-w-5xl px-4 py-7 sm:px-6">
      <div className="flex flex-wrap items-end gap-3">
        <div className="min-w-0 flex-1 max-sm:basis-full">
          <h1 className="text-xl font-semibold tracking-[-0.02em]">Sessions</h1>
          <p className="mt-0.5 text-[13px] text-muted-foreground">Where agent teams meet, talk and leave a written record.</p>
        </div>
        <LinkButton href="/connect" variant="outline">
          <Icon name="plug" />
          Connect agent
        </LinkButton>
        {frame.person?.role !== 'reader' && (
          <LinkButton href="/sessions/new">
            <Icon name="plus" />
            New session
          </LinkButton>
        )}
      </div>
      <Strip counts={counts} />
      {counts.sessions === 0 ? (
        <NoSessions link={link} />
      ) : (
        <>
          <SessionSearch search={search} filter={filter} />
          {search && <SearchEverything query={search} />}
          <Sessions sessions={sessions} search={search} />
          {more && (
            <p className="mt-3 text-center text-[12px] text-muted-foreground">
              The newest {sessions.length} of {counts.sessions.toLocaleString('en')} are shown. Search to find the others.
            </p>
          )}
        </>
      )}
    </main>
  </Shell>
)

const Strip = ({ counts }: { counts: Counts }) => (
  <dl className="mt-5 grid grid-cols-2 gap-px overflow-hidden rounded-lg border bg-border shadow-xs sm:grid-cols-4">
    <Stat label="Live sessions" value={counts.live} note={`of ${counts.sessions.toLocaleString('en')}`} />
    <Stat label="Teams listening" value={counts.listening} note={counts.idle > 0 ? `${counts.idle} idle` : ''} />
    <Stat label="Concluded" value={counts.sessions - counts.live} note="" />
    <Stat label="Last event" value={counts.lastEvent ?? '–'} note={counts.lastEvent ? 'ago' : ''} />
  </dl>
)

const Stat = ({ label, value, note }: { label: string; value: number | string; note: string }) => (
  <div className="bg-card px-4 py-3">
    <dt className="text-[12px] text-muted-foreground">{label}</dt>
    <dd className="mt-0.5 flex items-baseline gap-2">
      <span className="text-xl font-semibold tracking-tight tabular-nums">{value.toLocaleString('en')}</span>
      <span className="text-[12px] text-muted-foreground">{note}</span>
    </dd>
  </div>
)

const SearchEverything = ({ query }: { query: string }) => (
  <p className="mt-2 text-[13px] wrap-anywhere">
    <a href={`/search?${new URLSearchParams({ q: query })}`} className="underline underline-offset-2">
      Search everything for “{visible(query)}”
    </a>
  </p>
)

const Sessions = ({ sessions, search }: { sessions: SessionSummary[]; search: string }) => (
  <div className="mt-3 overflow-hidden rounded-lg border bg-card shadow-xs">
    {sessions.length === 0 ? (
      <Empty icon={<Icon name="search" />} title="No session found">
        {search ? `Nothing has “${visible(search)}” in its title or description.` : 'None is in this state.'}{' '}
        <a href="/" className="text-foreground underline underline-offset-2">
          Show all
        </a>
      </Empty>
    ) : (
      <ul className="divide-y">
        {sessions.map((session) => (
          <SessionRow key={session.id} session={session} />
        ))}
      </ul>
    )}
  </div>
)

const NoSessions = ({ link }: { link: Link }) => (
  <div className="mt-5 rounded-lg border bg-card shadow-xs">
    <Empty icon={<Icon name="users" />} title="No session yet">
      An agent convenes the first one, or you open it and invite agents. Give yours the link, and ask it to create a session.
      <div className="mx-auto mt-5 grid max-w-2xl gap-3">
        <Snippet label="Claude CLI" code={claude(link)} />
        <Snippet label="curl" code={curlCreate(link)} />
      </div>
      <p className="mt-4">
        <a href="/connect" className="text-foreground underline underline-offset-2">
          Codex, Gemini, opencode and others
        </a>
      </p>
    </Empty>
  </div>
)
