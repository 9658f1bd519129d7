import type { ReactNode } from 'react'
import { escapeInvisible } from '../../src/core/text/escape-invisible.ts'
import { counted } from '../../src/core/text/numbers.ts'
import { Icon } from '../parts/icon.tsx'
import { TextLink } from '../parts/text-link.tsx'
import { searchHref, SearchForm, type Search } from './search-form.tsx'
import { Hits, SessionHitRow, type EventHit, type SessionMatch } from './search-hits.tsx'
import { Shell, type Frame } from '../site/shell.tsx'
import { Alert } from '../ui/alert.tsx'
import { LinkButton } from '../ui/button.tsx'
import { Empty } from '../ui/empty.tsx'

export interface SearchResults {
  hits: EventHit[]
  sessions: SessionMatch[]
  terms: string[]
  /** The number of hits up to the end of this page. */
  total: number
  /** There are more hits beyond this page, and more sessions than these. */
  more: boolean
  moreSessions: boolean
  warnings: string[]
}

interface Props {
  frame: Frame
  search: Search
  /** The last page that a search can lead to. */
  lastPage: number
  /** The teams of the session that is searched. */
  names: string[]
  /** Undefined before a search, and after one that failed. */
  found?: SearchResults
  problem?: string
}

export const SearchPage = ({ frame, search, lastPage, names, found, problem }: Props) => (
  <Shell frame={frame} title={search.query ? `${search.query} · Search · Parley` : 'Search · Parley'} crumbs={[{ label: 'Search' }]}>
    <main id="main" className="mx-auto w-full max-w-3xl px-4 py-7 sm:px-6">
      <h1 className="text-xl font-semibold tracking-[-0.02em]">Search</h1>
      <SearchForm search={search} names={namesFor(names, found)} />
      {problem && <Alert variant="destructive" className="mt-4" children={escapeInvisible(problem)} />}
      {found ? <Results {...{ search, lastPage, found }} /> : !problem && <BeforeSearch search={search} />}
    </main>
  </Shell>
)

// The session's teams, and the authors of the hits.
const namesFor = (names: string[], found: SearchResults | undefined) => [
  ...new Set([...names, ...(found?.hits ?? []).flatMap(({ team }) => team?.name ?? [])]),
]

type ResultsProps = Pick<Props, 'search' | 'lastPage'> & { found: SearchResults }

const Results = ({ search, lastPage, found }: ResultsProps) => (
  <div className="mt-5">
    <p role="status" className="text-[13px] text-muted-foreground">
      {count(search, found)}
    </p>
    {found.warnings.map((warning) => (
      <p key={warning} className="mt-1 text-[13px] text-warn-foreground wrap-anywhere">
        {escapeInvisible(warning)}
      </p>
    ))}
    {found.sessions.length > 0 && (
      <Group id="sessions" title="Sessions and documents">
        <ul className="divide-y">
          {found.sessions.map((hit) => (
            <SessionHitRow key={hit.id} hit={hit} terms={found.terms} />
          ))}
        </ul>
        {found.moreSessions && search.type !== 'sessions' && (
          <p className="border-t px-4 py-2 text-[12.5px]">
            <TextLink quiet href={searchHref({ ...search, type: 'sessions' })} className="text-muted-foreground">
              More sessions and documents
            </TextLink>
          </p>
        )}
      </Group>
    )}
    {found.hits.length > 0 && (
      <Group id="hits" title="Messages and other events">
        <Hits hits={found.hits} search={search} terms={found.terms} />
      </Group>
    )}
    {found.hits.length + found.sessions.length === 0 && (
      <div className="mt-2 rounded-lg border bg-card shadow-xs">
        <NoHits search={search} />
      </div>
    )}
    <Pages {...{ search, lastPage, found }} />
  </div>
)

const Group = ({ id, title, children }: { id: string; title: string; children: ReactNode }) => (
  <section aria-labelledby={id} className="mt-4">
    <h2 id={id} className="text-[13px] font-medium">
      {title}
    </h2>
    <div className="mt-1.5 overflow-hidden rounded-lg border bg-card shadow-xs">{children}</div>
  </section>
)

const Pages = ({ search, lastPage, found: { more } }: ResultsProps) => {
  if (search.page === 1 && !more) return null
  return (
    <nav aria-label="Pages" className="mt-4 flex items-center justify-between gap-3 text-[13px] text-muted-foreground">
      {search.page > 1 ? (
        <LinkButton variant="outline" href={searchHref({ ...search, page: search.page - 1 })} rel="prev">
          Previous page
        </LinkButton>
      ) : (
        <span />
      )}
      {more && search.page < lastPage && (
        <LinkButton variant="outline" href={searchHref({ ...search, page: search.page + 1 })} rel="next">
          Next page
        </LinkButton>
      )}
      {more && search.page >= lastPage && <span>There are more results. Add a word or narrow the filters.</span>}
    </nav>
  )
}

const count = ({ type, page }: Search, { hits, sessions, total, more, moreSessions }: SearchResults): string => {
  const events =
    hits.length > 0 && (more || page > 1) ? `results ${total - hits.length + 1} to ${total}, best first` : counted(total, 'result')
  const beside = `${moreSessions ? 'more than ' : ''}${counted(sessions.length, 'session')}`
  const counts = type === 'sessions' ? [beside] : sessions.length > 0 ? [beside, events] : [events]
  return counts.join(' · ').replace(/^./, (first) => first.toUpperCase())
}

const NoHits = ({ search }: { search: Search }) => {
  const { query, session, type, by, from, to, page } = search
  if (page > 1)
    return (
      <Empty icon={<Icon name="search" />} title="No more results">
        <TextLink href={searchHref({ query, session, type, by, from, to })}>Back to the first page</TextLink>
      </Empty>
    )
  if (type === 'sessions' && by)
    return (
      <Empty icon={<Icon name="search" />} title="No results">
        Titles and documents have no author: <TextLink href={searchHref({ ...search, by: '' })}>search them without a name</TextLink>.
      </Empty>
    )
  return (
    <Empty icon={<Icon name="search" />} title="No results">
      No results for “<span className="wrap-anywhere">{escapeInvisible(query)}</span>”. Try fewer or different words
      {by && ', or a name exactly as messages show it'}
      {(session || type !== 'all' || by || from || to) && (
        <>
          , or <TextLink href={searchHref({ query, type: 'all' })}>search everywhere</TextLink>
          {type === '' && ', boards, decisions and tool calls too'}
        </>
      )}
      .
    </Empty>
  )
}

const BeforeSearch = ({ search: { session } }: { search: Search }) => (
  <div className="mt-6 rounded-lg border bg-card shadow-xs">
    <Empty icon={<Icon name="search" />} title={session ? 'Search this session' : 'Search every session and transcript'}>
      Titles, documents, messages and tool results. Paths, identifiers and error codes are found whole or by their parts.
    </Empty>
  </div>
)
