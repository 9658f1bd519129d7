import type { ReactNode } from 'react'
import { escapeInvisible } from '../../src/core/text/escape-invisible.ts'
import { counted } from '../../src/core/text/numbers.ts'
import { cn } from '../parts/cn.ts'
import { Icon } from '../parts/icon.tsx'
import { itemAnchor } from '../board/board-view.ts'
import type { HeldWork, RosterTeam, SessionState } from './session-view.ts'
import { StatusDot } from '../parts/status-dot.tsx'
import { TeamMark } from '../parts/team.tsx'

/** The teams in one line that scrolls; public/live/roster.js counts the teams that are out of sight. */
export const Teams = (props: Parameters<typeof Roster>[0]) => (
  <div id="teams" className="mt-2 flex items-center gap-2 lying:mt-0.5">
    <Roster {...props} />
    <button
      type="button"
      hidden
      title="Show more teams"
      className="relative h-8 shrink-0 cursor-pointer px-1 before:absolute before:-inset-2 text-[12px] font-medium text-muted-foreground tabular-nums hover:text-foreground lying:h-6"
    />
  </div>
)

export const Roster = ({ id, teams, waitingFor, wakes }: Pick<SessionState, 'id' | 'teams' | 'waitingFor' | 'wakes'>) => (
  <ul id="roster" aria-label="Teams" tabIndex={0} className="no-bar relative flex min-w-0 items-center gap-1.5 overflow-x-auto py-0.5 pr-1">
    {teams.map((team) => (
      <Chip key={team.id} session={id} team={team} woken={wakes ? WOKEN_BY_FEW : WOKEN_BY_ALL} />
    ))}
    {waitingFor > 0 && (
      <li className="flex shrink-0 in-data-guest:hidden">
        <a
          href={`/connect?session=${id}`}
          className="flex h-8 items-center gap-1.5 rounded-md border border-dashed px-2.5 text-[12.5px] text-muted-foreground hover:text-foreground"
        >
          <Icon name="users" className="size-3.5" />
          Waiting for {counted(waitingFor, 'more team')}
        </a>
      </li>
    )}
  </ul>
)

// What wakes a team that sleeps: while the session's wakes are used up, not every message.
const WOKEN_BY_ALL = 'a message wakes it'
const WOKEN_BY_FEW = 'only a message to it or from a person wakes it'

const Chip = ({ session, team, woken }: { session: string; team: RosterTeam; woken: string }) => {
  const away = team.status === 'disconnected'
  const asleep = team.status === 'asleep'
  return (
    <li
      data-hue={team.hue}
      title={[escapeInvisible(team.name), titleOf(team, woken)].filter(Boolean).join(': ')}
      className={cn(
        'relative flex h-8 shrink-0 items-center gap-2 rounded-md border bg-card py-1 pr-2.5 pl-1 text-[12.5px] shadow-xs lying:h-6 lying:border-0 lying:bg-transparent lying:px-0 lying:shadow-none',
        away && 'border-dashed bg-transparent shadow-none',
      )}
    >
      <span className="relative">
        <TeamMark team={team} size="small" faded={away} />
        <StatusDot
          status={team.status}
          word={team.agent ? '' : asleep ? `Asleep, ${woken}` : undefined} // an agent's stands in words beside it
          className="absolute -right-0.5 -bottom-0.5 size-2 ring-2 ring-card"
        />
      </span>
      <span className="flex items-center gap-2 lying:sr-only">
        <bdi className="max-w-52 truncate font-medium">{escapeInvisible(team.name)}</bdi>
        {team.convener && <span className="text-[11px] text-muted-foreground">convener</span>}
        {asleep && <Mark>asleep</Mark>}
        {team.agent && <Mark>{AGENT[team.status]}</Mark>}
        {!asleep && !team.agent && team.status !== 'active' && (
          <Mark>
            {team.left ? 'left' : team.spoke ? `spoke ${team.seen}` : team.seen}
            {team.spoke && <span className="sr-only">, not listening</span>}
            {!team.left && <span className="sr-only">, {NOT_WOKEN}</span>}
          </Mark>
        )}
        {team.holds.length > 0 && <Holds session={session} holds={team.holds} />}
        {!away && team.unread && <Mark>{unread(team.unread)}</Mark>}
        {!away && team.acknowledged > 0 && (
          <Mark>
            <span className="sr-only">acknowledged up to </span>✓ #{team.acknowledged}
          </Mark>
        )}
      </span>
    </li>
  )
}

// What the team works on: how one sees that a silent one is at work.
const Holds = ({ session, holds }: { session: string; holds: HeldWork[] }) => {
  const [{ id, title, since }, ...more] = holds as [HeldWork, ...HeldWork[]]
  return (
    <a
      href={`/sessions/${session}/board#${itemAnchor(id)}`}
      title={holds.map((one) => `${escapeInvisible(one.title)}, ${one.since}`).join('\n')}
      className="flex min-w-0 gap-1 text-[11px] text-muted-foreground hover:text-foreground"
    >
      <span className="sr-only">holds </span>
      <span dir="auto" className="max-w-40 truncate">
        {escapeInvisible(title)}
      </span>
      {more.length > 0 && <span className="tabular-nums">+{more.length}</span>}
      <span className="tabular-nums">{since}</span>
    </a>
  )
}

const AGENT = { active: 'working', asleep: 'ready', idle: 'ready', disconnected: 'away' } // why, the agent's line says
const NOT_WOKEN = 'no message wakes it'

// A team that is away shows only for how long; pointing at its chip shows the rest.
const titleOf = (team: RosterTeam, woken: string): string | undefined => {
  const { status, spoke, seen, left, agent } = team
  if (agent) return 'a prompt sets it to work'
  if (status === 'active') return undefined
  if (status === 'asleep') return `${spoke ? 'spoke' : 'awake'} ${seen}; ${woken}`
  return [status === 'disconnected' && receiptOf(team), !left && NOT_WOKEN].filter(Boolean).join('; ') || undefined
}

const receiptOf = ({ unread: missed, acknowledged }: RosterTeam): string | undefined =>
  [missed && unread(missed), acknowledged > 0 && `acknowledged up to #${acknowledged}`].filter(Boolean).join(', ') || undefined

const Mark = ({ children }: { children: ReactNode }) => <span className="text-[11px] text-muted-foreground tabular-nums">{children}</span>

const unread = ({ count, more }: NonNullable<RosterTeam['unread']>): string =>
  count === 0 ? (more ? 'some unread' : 'read all') : `${count}${more ? '+' : ''} unread`

type ListeningProps = Pick<SessionState, 'teams' | 'concluded' | 'archived' | 'quietFor' | 'wakes'>

/** Which teams wait for the next message, and who is to conclude. */
export const Listening = ({ teams, concluded, archived, quietFor, wakes }: ListeningProps) => {
  const over = archived ? 'Session archived' : concluded ? 'Session concluded' : undefined
  const listening = over ? [] : teams.filter(({ polling }) => polling)
  const asleep = over ? '' : sleepersOf(teams, wakes === undefined)
  return (
    <p
      id="listening"
      className="flex min-h-9 shrink-0 items-center justify-between gap-x-2 border-t px-4 py-1 text-[12px] text-muted-foreground max-sm:flex-wrap"
    >
      {listening.length > 0 ? (
        <span className="flex shrink-0 items-center gap-2">
          <span className="flex gap-0.5">
            {listening.slice(0, 8).map((team) => (
              <TeamMark key={team.id} team={team} size="tiny" />
            ))}
          </span>
          <span>
            <span className="font-medium text-foreground">
              {listening.length === 1 ? '1 team is' : `${listening.length} teams are`} listening
            </span>
            <span className="max-sm:hidden"> · {asleep || 'waiting for the next message'}</span>
          </span>
        </span>
      ) : (
        <span className={cn('shrink-0', quietFor && 'font-medium text-warn-foreground')}>
          {over ?? atWork(teams) ?? silence(quietFor, asleep || deafness(teams))}
        </span>
      )}
      {!over && <span className="flex min-w-0">{duty(teams)}</span>}
    </p>
  )
}

const sleepersOf = (teams: RosterTeam[], wakeable: boolean): string => {
  const count = teams.filter(({ status }) => status === 'asleep').length
  return count === 0 ? '' : `${count} asleep${wakeable ? `: a message wakes ${count === 1 ? 'it' : 'them'}` : ''}`
}

// Whoever writes now is heard by nobody until an agent comes back by itself. An active team is at work, and will look.
const deafness = (teams: RosterTeam[]): string => {
  const agent = teams.find((team) => team.agent && team.status === 'idle')
  if (agent) return `a prompt sets ${escapeInvisible(agent.name)} to work`
  const there = teams.filter(({ left }) => !left)
  const deaf = there.length > 0 && there.every(({ status }) => status === 'idle' || status === 'disconnected')
  return deaf ? 'a message wakes none' : ''
}

const atWork = (teams: RosterTeam[]): string | undefined => {
  const agent = teams.find((team) => team.agent && team.status === 'active')
  return agent && `${escapeInvisible(agent.name)} is working`
}

const silence = (quietFor: string | undefined, effect: string) => {
  const silent = quietFor ? `Idle for ${quietFor}, not concluded` : 'No team is listening right now'
  return effect ? `${silent} · ${effect}` : silent
}

const duty = (teams: RosterTeam[]) => {
  const convener = teams.find((team) => team.convener)
  if (!convener) return ''
  return convener.left ? (
    <span className="truncate">The convener has left: any team may take over</span>
  ) : (
    <>
      <bdi className="truncate">{escapeInvisible(convener.name)}</bdi>
      <span className="shrink-0 whitespace-pre"> is to conclude</span>
    </>
  )
}
