import type { Kind } from '../src/core/kinds.ts'
import { visible } from '../src/core/visible.ts'
import { Icon } from './icon.tsx'
import { Marked } from './marked.tsx'
import { hrefOf, KINDS, SearchForm, type Search } from './search-form.tsx'
import { Shell, type Frame } from './shell.tsx'
import { TeamMark, TeamName, type Team } from './team.tsx'
import { moment } from './time.ts'
import { Alert } from './ui/alert.tsx'
import { Badge } from './ui/badge.tsx'
import { Empty } from './ui/empty.tsx'

export interface Hit {
  sessionId: string
  title: string
  /** `room`, or the program whose transcript it is. */
  source: string
  kind: Kind
  at: string
  snippet: string
  /** Its row in the session's feed; undefined for what no feed shows. */
  sequence: number | undefined
  team: Team | undefined
}

export interface Found {
  hits: Hit[]
  terms: string[]
  /** Hits before the days were looked at. */
  looked: number
  /** There are more than were looked at. */
  more: boolean
  warnings: string[]
}

interface Props {
  frame: Frame
  search: Search
  /** Undefined until something is looked for, and when that failed. */
  found?: Found
  problem?: string
}

export const SearchPage = ({ frame, search, found, problem }: Props) => (
  <Shell frame={frame} title={search.query ? `${search.query} · Search · Parley` : 'Search · Parley'} crumbs={[{ label: 'Search' }]}>
    <main id="main" className="mx-auto w-full max-w-3xl px-4 py-7 sm:px-6">
      <h1 className="text-xl font-semibold tracking-[-0.02em]">Search</h1>
      <SearchForm search={search} />
      {problem && <Alert variant="destructive" className="mt-4" children={visible(problem)} />}
      {found ? <Results search={search} found={found} /> : !problem && <Nothing search={search} />}
    </main>
  </Shell>
)

const Results = ({ search, found }: { search: Search; found: Found }) => (
  <section aria-labelledby="results" className="mt-6">
    <h2 id="results" className="sr-only">
      Hits
    </h2>
    <p role="status" className="text-[13px] text-muted-foreground">
      {count(search, found)}
    </p>
    {found.warnings.map((warning) => (
      <p key={warning} className="mt-1 text-[13px] text-warn-foreground wrap-anywhere">
        {visible(warning)}
      </p>
    ))}
    <div className="mt-2 overflow-hidden rounded-lg border bg-card shadow-xs">
      {found.hits.length === 0 ? (
        <NoHits search={search} looked={found.looked} />
      ) : (
        <ol className="divide-y">
          {found.hits.map((hit, i) => (
            <HitRow key={i} hit={hit} search={search} terms={found.terms} />
          ))}
        </ol>
      )}
    </div>
  </section>
)

const hits = (n: number) => (n === 1 ? '1 hit' : `${n} hits`)

const count = ({ from, to }: Search, { hits: { length }, looked, more }: Found): string => {
  if (!more) return hits(length)
  if (from || to) return `${length} of the best ${looked} hits are from these days. There are more hits: add a word to bring up others.`
  return `The best ${looked} hits. There are more: add a word, or look in fewer places.`
}

/** A hit: the whole row leads to where it was said. */
const HitRow = ({ hit, search, terms }: { hit: Hit; search: Search; terms: string[] }) => (
  <li className="relative flex gap-3 px-4 py-3 hover:bg-accent/50 has-focus-visible:bg-accent/60">
    <TeamMark team={hit.team ?? { name: hit.source, hue: undefined }} faded={!hit.team} />
    <div className="min-w-0 flex-1">
      <a
        href={placeOf(hit)}
        className="block truncate text-[14px] font-medium tracking-[-0.005em] after:absolute after:inset-0 focus-visible:outline-none after:focus-visible:outline-2 after:focus-visible:-outline-offset-2 after:focus-visible:outline-ring"
      >
        {visible(hit.title)}
      </a>
      <p className="mt-0.5 flex flex-wrap items-center gap-x-2 gap-y-0.5 text-[12px] text-muted-foreground">
        {hit.team ? <TeamName team={hit.team} /> : <span>{visible(hit.source)}</span>}
        <Badge variant="outline">{KINDS[hit.kind].one}</Badge>
        <time dateTime={hit.at} className="tabular-nums">
          {moment(hit.at)}
        </time>
        {hit.sequence === undefined && <span>not in the feed: leads to its session</span>}
        {!search.session && (
          <a
            href={hrefOf({ ...search, session: { id: hit.sessionId } })}
            aria-label={`Only this session: ${visible(hit.title)}`}
            className="relative z-10 underline underline-offset-2 hover:text-foreground"
          >
            Only this session
          </a>
        )}
      </p>
      <p className="mt-1 text-[13px] leading-5 wrap-anywhere">
        <Marked text={hit.snippet} terms={terms} />
      </p>
    </div>
  </li>
)

const placeOf = ({ sessionId, sequence }: Hit) =>
  sequence === undefined ? `/sessions/${sessionId}` : `/sessions/${sessionId}?around=${sequence}#m${sequence}`

const NoHits = ({ search: { query, session, type, from, to }, looked }: { search: Search; looked: number }) => (
  <Empty icon={<Icon name="search" />} title="No hits">
    {looked > 0 ? (
      'The best hits are from other days. '
    ) : (
      <>
        Nothing here says “<span className="wrap-anywhere">{visible(query)}</span>”.{' '}
      </>
    )}
    Try fewer or other words
    {(session || type !== 'all' || from || to) && (
      <>
        , or{' '}
        <a href={hrefOf({ query, type: 'all' })} className="text-foreground underline underline-offset-2">
          look everywhere
        </a>
      </>
    )}
    .
  </Empty>
)

const Nothing = ({ search: { session } }: { search: Search }) => (
  <div className="mt-6 rounded-lg border bg-card shadow-xs">
    <Empty icon={<Icon name="search" />} title={session ? 'Search this session' : 'Search every session and transcript'}>
      Words, paths, identifiers and error codes are found whole and by their parts. Messages and tool results are searched, the shared
      documents are not.
    </Empty>
  </div>
)
