import type { FamilyMember } from '../agents/agent-view.ts'
import { countOf, Descendants } from '../agents/family.tsx'
import { escapeInvisible } from '../../src/core/text/escape-invisible.ts'
import { counted } from '../../src/core/text/numbers.ts'
import { cn } from '../parts/cn.ts'
import { Icon } from '../parts/icon.tsx'
import { Marked } from '../parts/marked.tsx'
import { Sparkline } from '../parts/sparkline.tsx'
import { StatusDot } from '../parts/status-dot.tsx'
import { TeamMark, type Team } from '../parts/team.tsx'
import { Badge } from '../ui/badge.tsx'

export interface SessionSummary {
  id: string
  title: string
  /** The program that it was imported from; undefined for a room. */
  source: string | undefined
  /** As on the session's page; asleep: idle, with a team that a message wakes. */
  state: 'live' | 'asleep' | 'idle' | 'concluded' | 'archived'
  /** Why it needs a person. */
  need: keyof typeof NEEDS | undefined
  lastLine: string
  teams: Team[]
  /** How long ago the last event was. */
  age: string
  messages: number
  /** Messages in equal slots of the session's time. */
  pulses: number[]
  /** The session that it continues. */
  from: { how: 'resumed' | 'forked' | 'started'; title: string } | undefined
  /** The sessions below it, if there are any. */
  family: FamilyMember | undefined
}

const NEEDS = {
  loop_suspected: 'The teams say the same again and again',
  wakes_used_up: 'Messages wake its sleeping teams no more',
}
const MARKS = 4
const DOTS = {
  live: { status: 'active', word: 'Live' },
  asleep: { status: 'asleep', word: 'Idle, with teams that a message wakes' },
  idle: { status: 'idle', word: 'Idle' },
  concluded: { status: 'disconnected', word: 'Concluded' },
  archived: { status: 'disconnected', word: 'Archived' },
} as const

/** A session in the list; the whole row is a link to it. `terms` are marked. */
export const SessionRow = ({ session, terms = [] }: { session: SessionSummary; terms?: string[] | undefined }) => (
  <li
    id={`s-${session.id}`}
    className="relative flex flex-wrap items-center gap-x-4 px-4 py-3 hover:bg-accent/50 has-focus-visible:bg-accent/60"
  >
    <StatusDot {...DOTS[session.state]} className="size-2.25" />
    <div className="min-w-0 flex-1">
      <div className="flex items-center gap-x-2 gap-y-1 max-sm:flex-wrap">
        <a
          href={`/sessions/${session.id}`}
          className="row-link text-[14px] leading-5 font-medium wrap-anywhere max-sm:line-clamp-2 max-sm:basis-full sm:truncate"
        >
          <Marked text={session.title} terms={terms} />
        </a>
        {session.need && (
          <Badge variant="warn" title={NEEDS[session.need]}>
            Needs a person
          </Badge>
        )}
        {session.from && (
          <Badge variant="outline" className="max-w-52 min-w-20 shrink-[9999]" title={escapeInvisible(session.from.title)}>
            <Icon name={session.from.how === 'resumed' ? 'resume' : 'fork'} className="shrink-0" />
            <span className="min-w-0 truncate">
              {session.from.how} from {escapeInvisible(session.from.title)}
            </span>
          </Badge>
        )}
        {session.source ? (
          <Badge variant="outline" title="An imported transcript">
            {escapeInvisible(session.source)}
          </Badge>
        ) : (
          (session.state === 'concluded' || session.state === 'archived') && (
            <Badge variant={session.state === 'concluded' ? 'concluded' : 'outline'}>{DOTS[session.state].word}</Badge>
          )
        )}
      </div>
      <p
        className={cn(
          'mt-0.5 text-[12.5px] text-muted-foreground [&_mark]:text-foreground!',
          terms.length > 0 ? 'line-clamp-3 wrap-anywhere' : 'truncate', // what was found is not cut off
        )}
      >
        <Marked text={session.lastLine} terms={terms} />
      </p>
    </div>
    <Marks teams={session.teams} />
    <Sparkline pulses={session.pulses} />
    <span className="w-14 shrink-0 text-right text-[12px] text-muted-foreground tabular-nums">
      <span className="block text-foreground">{session.age}</span>
      <span className="block text-[11px]">{session.messages.toLocaleString('en')} msg</span>
    </span>
    {session.family && <Below family={session.family} />}
  </li>
)

// Above the link that covers the row.
const Below = ({ family }: { family: FamilyMember }) => (
  <details className="relative basis-full pt-1.5 pl-6 text-[12.5px] text-muted-foreground">
    <summary className="w-fit cursor-pointer hover:text-foreground max-sm:py-1.5">{counted(countOf(family), 'session')} below</summary>
    <div className="pt-1">
      <Descendants family={family} />
    </div>
  </details>
)

const Marks = ({ teams }: { teams: Team[] }) => (
  <span className="flex gap-0.5 max-sm:hidden">
    {teams.slice(0, MARKS).map((team, i) => (
      <span key={i} title={escapeInvisible(team.name)} className="relative">
        <TeamMark team={team} size="small" />
        <span className="sr-only">{escapeInvisible(team.name)}</span>
      </span>
    ))}
    {teams.length > MARKS && (
      <span className="grid size-6 place-items-center rounded-md bg-secondary text-[9px] font-medium text-secondary-foreground">
        +{teams.length - MARKS}
      </span>
    )}
  </span>
)
