import { visible } from '../src/core/visible.ts'
import { cn } from './cn.ts'
import { Icon } from './icon.tsx'
import { StatusDot, type Status } from './status-dot.tsx'
import { TeamMark, type Team } from './team.tsx'

export interface RosterTeam extends Team {
  id: string
  status: Status
  /** How long ago it was seen. */
  seen: string
  convener: boolean
  left: boolean
}

export const Roster = ({ teams, waitingFor }: { teams: RosterTeam[]; waitingFor: number }) => (
  <ul aria-label="Teams" tabIndex={0} className="no-bar relative flex items-center gap-1.5 overflow-x-auto py-0.5">
    {teams.map((team) => (
      <Chip key={team.id} team={team} />
    ))}
    {waitingFor > 0 && (
      <li className="flex h-8 shrink-0 items-center gap-1.5 rounded-md border border-dashed px-2.5 text-[12.5px] text-muted-foreground">
        <Icon name="users" className="size-3.5" />
        Waiting for {waitingFor} more {waitingFor === 1 ? 'team' : 'teams'}
      </li>
    )}
  </ul>
)

const Chip = ({ team }: { team: RosterTeam }) => {
  const away = team.status === 'disconnected'
  return (
    <li
      data-hue={team.hue}
      title={`${visible(team.name)}: ${team.left ? 'left' : `${team.status}, seen ${team.seen} ago`}`}
      className={cn(
        'relative flex h-8 shrink-0 items-center gap-2 rounded-md border bg-card py-1 pr-2.5 pl-1 text-[12.5px] shadow-xs',
        away && 'border-dashed bg-transparent shadow-none',
      )}
    >
      <span className="relative">
        <TeamMark team={team} size="small" faded={away} />
        <StatusDot status={team.status} className="absolute -right-0.5 -bottom-0.5 size-2 ring-2 ring-card" />
      </span>
      <span className="max-w-52 truncate font-medium">{visible(team.name)}</span>
      {team.convener && <span className="text-[11px] text-muted-foreground">convener</span>}
      {team.status !== 'active' && (
        <span className="text-[11px] text-muted-foreground tabular-nums">{team.left ? 'left' : `${team.seen} ago`}</span>
      )}
    </li>
  )
}

/** The one thing that only a meeting room can show: who waits for the next word. */
export const Listening = ({ teams, concluded }: { teams: RosterTeam[]; concluded: boolean }) => {
  const listening = concluded ? [] : teams.filter(({ status }) => status === 'active')
  const [first, ...more] = listening
  return (
    <p className="flex h-9 shrink-0 items-center gap-2 border-t px-4 text-[12px] text-muted-foreground">
      {first ? (
        <>
          <span className="flex gap-0.5">
            {listening.slice(0, 8).map((team) => (
              <TeamMark key={team.id} team={team} size="tiny" />
            ))}
          </span>
          <span>
            <span className="font-medium text-foreground">
              {more.length === 0 ? '1 team is' : `${listening.length} teams are`} listening
            </span>
            <span className="max-sm:hidden"> · waiting for the next message</span>
          </span>
        </>
      ) : (
        <>{concluded ? 'The session is concluded: nothing more will come' : 'No team is listening right now'}</>
      )}
    </p>
  )
}
