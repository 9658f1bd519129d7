// What a search found, row by row: events, and sessions with their documents.
import type { Kind } from '../src/core/kinds.ts'
import { visible } from '../src/core/visible.ts'
import { Icon } from './icon.tsx'
import { Marked } from './marked.tsx'
import { sourceName } from './source.ts'
import { hrefOf, KINDS, type Search } from './search-form.tsx'
import { TeamMark, TeamName, type Team } from './team.tsx'
import { moment } from './time.ts'
import { Badge } from './ui/badge.tsx'

export interface Hit {
  sessionId: string
  title: string
  /** `room`, or the program whose transcript it is. */
  source: string
  kind: Kind
  at: string
  snippet: string
  /** Where it is seen: in its session's feed, or in its turn. */
  href: string
  team: Team | undefined
}

export interface SessionHit {
  id: string
  title: string
  source: string
  completed: boolean
  /** When something last happened in it. */
  at: string
  /** Where the snippet is from. */
  place: 'document' | 'description'
  snippet: string
}

const ROW = 'relative flex gap-3 px-4 py-3 hover:bg-accent/50 has-focus-visible:bg-accent/60'
const ROW_LINK =
  'truncate text-[14px] font-medium tracking-[-0.005em] after:absolute after:inset-0 focus-visible:outline-none after:focus-visible:outline-2 after:focus-visible:-outline-offset-2 after:focus-visible:outline-ring'
const ABOUT = 'mt-0.5 flex flex-wrap items-center gap-x-2 gap-y-0.5 text-[12px] text-muted-foreground'
const WITHIN = 'relative z-10 underline-offset-2 hover:text-foreground hover:underline'

/** A hit: the whole row leads to where it was said. */
export const HitRow = ({ hit, search, terms }: { hit: Hit; search: Partial<Search>; terms: string[] }) => (
  <li className={ROW}>
    <TeamMark team={hit.team ?? { name: sourceName(hit.source) ?? 'Parley', hue: undefined }} faded={!hit.team} />
    <div className="min-w-0 flex-1">
      <a href={hit.href} className={`block ${ROW_LINK}`}>
        {visible(hit.title)}
      </a>
      <p className={ABOUT}>
        {hit.team ? <Author team={hit.team} search={search} /> : <span>{visible(sourceName(hit.source) ?? 'Parley')}</span>}
        <Badge variant="outline">{KINDS[hit.kind].one}</Badge>
        <time dateTime={hit.at} className="tabular-nums">
          {moment(hit.at)}
        </time>
        {!search.session && (
          <a
            href={hrefOf({ ...search, page: 1, session: { id: hit.sessionId } })}
            aria-label={`Only this session: ${visible(hit.title)}`}
            className={`${WITHIN} underline`}
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

const Author = ({ team, search }: { team: Team; search: Partial<Search> }) =>
  search.by ? (
    <TeamName team={team} />
  ) : (
    <a href={hrefOf({ ...search, page: 1, by: team.name })} title={`Only what ${visible(team.name)} said`} className={WITHIN}>
      <TeamName team={team} />
    </a>
  )

/** A session that was found by its title, description or document. */
export const SessionHitRow = ({ hit, terms }: { hit: SessionHit; terms: string[] }) => (
  <li className={ROW}>
    <span className="grid size-7 shrink-0 place-items-center rounded-md border bg-muted/60 text-muted-foreground">
      <Icon name={hit.place === 'document' ? 'document' : 'message'} className="size-3.5" />
    </span>
    <div className="min-w-0 flex-1">
      <div className="flex items-center gap-2">
        <a href={`/sessions/${hit.id}${hit.place === 'document' ? '#document' : ''}`} className={ROW_LINK}>
          <Marked text={hit.title} terms={terms} />
        </a>
        {hit.completed && hit.source === 'room' && <Badge variant="concluded">Concluded</Badge>}
      </div>
      <p className={ABOUT}>
        <span>{hit.place === 'document' ? 'In the document' : visible(sourceName(hit.source) ?? 'Session')}</span>
        <time dateTime={hit.at} className="tabular-nums">
          {moment(hit.at)}
        </time>
      </p>
      {hit.snippet !== '' && (
        <p className="mt-1 text-[13px] leading-5 wrap-anywhere">
          <Marked text={hit.snippet} terms={terms} />
        </p>
      )}
    </div>
  </li>
)
