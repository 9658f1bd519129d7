import type { ReactNode } from 'react'
import { visible } from '../../src/core/escape-invisible.ts'
import { Icon } from '../parts/icon.tsx'
import { hrefOf, SearchForm, type Search } from './search-form.tsx'
import { Hits, SessionHitRow, type Hit, type SessionHit } from './search-hits.tsx'
import { Shell, type Frame } from '../site/shell.tsx'
import { Alert } from '../ui/alert.tsx'
import { LinkButton } from '../ui/button.tsx'
import { Empty } from '../ui/empty.tsx'

export interface Found {
  hits: Hit[]
  sessions: SessionHit[]
  terms: string[]
  /** Hits up to the end of this page. */
  total: number
  /** There are hits beyond this page, sessions beyond these. */
  more: boolean
  moreSessions: boolean
  warnings: string[]
}

interface Props {
  frame: Frame
  search: Search
  /** No page leads beyond this one. */
  lastPage: number
  /** Who took part in the session that is searched. */
  names: string[]
  /** Undefined before a search, and after one that failed. */
  found?: Found
  problem?: string
}

export const SearchPage = ({ frame, search, lastPage, names, found, problem }: Props) => (
  <Shell frame={frame} title={search.query ? `${search.query} · Search · Parley` : 'Search · Parley'} crumbs={[{ label: 'Search' }]}>
    <main id="main" className="mx-auto w-full max-w-3xl px-4 py-7 sm:px-6">
      <h1 className="text-xl font-semibold tracking-[-0.02em]">Search</h1>
      <SearchForm search={search} names={namesFor(names, found)} />
      {problem && <Alert variant="destructive" className="mt-4" children={visible(problem)} />}
      {found ? <Results {...{ search, lastPage, found }} /> : !problem && <Nothing search={search} />}
    </main>
  </Shell>
)

// Those of the session; where none is chosen, those who said what was found.
const namesFor = (names: string[], found: Found | undefined) => [
  ...new Set([...names, ...(found?.hits ?? []).flatMap(({ team }) => team?.name ?? [])]),
]

type Shown = Pick<Props, 'search' | 'lastPage'> & { found: Found }

const Results = ({ search, lastPage, found }: Shown) => (
  <div className="mt-5">
    <p role="status" className="text-[13px] text-muted-foreground">
      {count(search, found)}
    </p>
    {found.warnings.map((warning) => (
      <p key={warning} className="mt-1 text-[13px] text-warn-foreground wrap-anywhere">
        {visible(warning)}
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
            <a
              href={hrefOf({ ...search, type: 'sessions' })}
              className="text-muted-foreground underline underline-offset-2 hover:text-foreground"
            >
              More sessions and documents
            </a>
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

const Pages = ({ search, lastPage, found: { more } }: Shown) => {
  if (search.page === 1 && !more) return null
  return (
    <nav aria-label="Pages" className="mt-4 flex items-center justify-between gap-3 text-[13px] text-muted-foreground">
      {search.page > 1 ? (
        <LinkButton variant="outline" href={hrefOf({ ...search, page: search.page - 1 })} rel="prev">
          Previous page
        </LinkButton>
      ) : (
        <span />
      )}
      {more && search.page < lastPage && (
        <LinkButton variant="outline" href={hrefOf({ ...search, page: search.page + 1 })} rel="next">
          Next page
        </LinkButton>
      )}
      {more && search.page >= lastPage && <span>There are more results. Add a word or narrow the filters.</span>}
    </nav>
  )
}

const numbered = (n: number, one: string) => `${n} ${n === 1 ? one : `${one}s`}`

const count = ({ type, page }: Search, { hits, sessions, total, more, moreSessions }: Found): string => {
  const events = more || page > 1 ? `results ${total - hits.length + 1} to ${total}, best first` : numbered(total, 'result')
  const beside = `${moreSessions ? 'more than ' : ''}${numbered(sessions.length, 'session')}`
  const told = type === 'sessions' ? [beside] : sessions.length > 0 ? [beside, events] : [events]
  return told.join(' · ').replace(/^./, (first) => first.toUpperCase())
}

const NoHits = ({ search: { query, session, type, by, from, to, page } }: { search: Search }) =>
  page > 1 ? (
    <Empty icon={<Icon name="search" />} title="No more results">
      <a href={hrefOf({ query, session, type, by, from, to })} className="text-foreground underline underline-offset-2">
        Back to the first page
      </a>
    </Empty>
  ) : (
    <Empty icon={<Icon name="search" />} title="No results">
      No results for “<span className="wrap-anywhere">{visible(query)}</span>”. Try fewer or different words
      {by && ', or a name exactly as messages show it'}
      {(session || type !== 'all' || by || from || to) && (
        <>
          , or{' '}
          <a href={hrefOf({ query, type: 'all' })} className="text-foreground underline underline-offset-2">
            search everywhere
          </a>
        </>
      )}
      .
    </Empty>
  )

const Nothing = ({ search: { session } }: { search: Search }) => (
  <div className="mt-6 rounded-lg border bg-card shadow-xs">
    <Empty icon={<Icon name="search" />} title={session ? 'Search this session' : 'Search every session and transcript'}>
      Titles, documents, messages and tool results. Paths, identifiers and error codes are found whole or by their parts.
    </Empty>
  </div>
)
