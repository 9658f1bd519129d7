// The results of a search, row by row: events, and sessions found by their titles or documents.
import type { EventType } from '../../src/core/events/event-types.ts'
import { escapeInvisible } from '../../src/core/text/escape-invisible.ts'
import { Icon } from '../parts/icon.tsx'
import { Marked } from '../parts/marked.tsx'
import { sourceName } from '../parts/source.ts'
import { searchHref, TYPE_LABELS, type Search } from './search-form.tsx'
import { TeamMark, TeamName, type Team } from '../parts/team.tsx'
import { TextLink } from '../parts/text-link.tsx'
import { moment } from '../parts/time.ts'
import { Badge } from '../ui/badge.tsx'

export interface EventHit {
  sessionId: string
  title: string
  /** `room`, or the program whose transcript it is. */
  source: string
  kind: EventType
  at: string
  snippet: string
  /** The event in its session's feed, or in its turn. */
  href: string
  team: Team | undefined
}

export interface SessionMatch {
  id: string
  title: string
  source: string
  completed: boolean
  /** The session's last event. */
  at: string
  /** The text that the snippet is from. */
  place: 'document' | 'description'
  snippet: string
}

const ROW = 'relative flex gap-3 px-4 py-3 hover:bg-accent/50 has-focus-visible:bg-accent/60'
const ROW_LINK = 'row-link truncate text-[14px] font-medium'
const ABOUT = 'flex flex-wrap items-center gap-x-2 gap-y-0.5 text-[12px] text-muted-foreground'
const WITHIN = 'relative z-10 leading-6 underline-offset-2 hover:text-foreground hover:underline'

interface Props {
  hits: EventHit[]
  search: Partial<Search>
  terms: string[]
}

/** The hits of a page, grouped by session, in the order of each session's best hit. */
export const Hits = ({ hits, search, terms }: Props) => (
  <div className="divide-y">
    {[...Map.groupBy(hits, ({ sessionId }) => sessionId)].map(([id, own]) => (
      <div key={id}>
        {!search.session && <SessionHead {...own[0]!} search={search} />}
        <ol className="divide-y">
          {own.map((hit, i) => (
            <HitRow key={i} hit={hit} search={search} terms={terms} />
          ))}
        </ol>
      </div>
    ))}
  </div>
)

const SessionHead = ({ sessionId, title, search }: Pick<EventHit, 'sessionId' | 'title'> & { search: Partial<Search> }) => (
  <div className="flex items-baseline gap-3 border-b bg-muted/50 px-4 py-2 text-[12.5px]">
    <h3 className="min-w-0 flex-1 font-medium">
      <a href={`/sessions/${sessionId}`} className="block truncate underline-offset-2 hover:underline">
        {escapeInvisible(title)}
      </a>
    </h3>
    <TextLink
      quiet
      href={searchHref({ ...search, page: 1, session: { id: sessionId } })}
      aria-label={`Only this session: ${escapeInvisible(title)}`}
      className="-my-1 shrink-0 py-1 text-[12px] text-muted-foreground"
    >
      Only this session
    </TextLink>
  </div>
)

// The whole row is a link to the event.
const HitRow = ({ hit, search, terms }: { hit: EventHit; search: Partial<Search>; terms: string[] }) => (
  <li className={ROW}>
    <TeamMark team={hit.team ?? { name: sourceName(hit.source) ?? 'Parley', hue: undefined }} faded={!hit.team} size="small" />
    <div className="min-w-0 flex-1">
      <p className={ABOUT}>
        {hit.team ? (
          <Author kind={hit.kind} team={hit.team} search={search} />
        ) : (
          <span>{escapeInvisible(sourceName(hit.source) ?? 'Parley')}</span>
        )}
        {hit.kind !== 'assistant_response' && <Badge variant="outline">{TYPE_LABELS[hit.kind].one}</Badge>}
        <time dateTime={hit.at} className="tabular-nums">
          {moment(hit.at)}
        </time>
      </p>
      <a href={hit.href} className="row-link block text-[13.5px] leading-5 wrap-anywhere">
        <Marked text={hit.snippet || TYPE_LABELS[hit.kind].one} terms={terms} />
      </a>
    </div>
  </li>
)

// What somebody did on a board or decided is not among what they said.
const Author = ({ kind, team, search }: { kind: EventType; team: Team; search: Partial<Search> }) =>
  search.by || kind === 'system' ? (
    <TeamName team={team} />
  ) : (
    <a href={searchHref({ ...search, page: 1, by: team.name })} title={`Only what ${escapeInvisible(team.name)} said`} className={WITHIN}>
      <TeamName team={team} />
    </a>
  )

/** A session found by its title, description or document. */
export const SessionHitRow = ({ hit, terms }: { hit: SessionMatch; terms: string[] }) => (
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
      <p className={`mt-0.5 ${ABOUT}`}>
        <span>{hit.place === 'document' ? 'In the document' : escapeInvisible(sourceName(hit.source) ?? 'Session')}</span>
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
