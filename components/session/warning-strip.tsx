import type { ReactNode } from 'react'
import { escapeInvisible } from '../../src/core/text/escape-invisible.ts'
import { cn } from '../parts/cn.ts'
import { clock } from '../parts/time.ts'
import { LinkButton } from '../ui/button.tsx'
import { inDialog } from './session-actions.tsx'
import type { SessionState } from './session-view.ts'

// What a stream brings is sent to all viewers alike. Its actions show only on the pages of people who may act (shell.tsx).
export const FOR_ACTORS = '[html:not([data-acts])_&]:hidden'

/** Says that teams are in a loop, and what a person can do about it. */
export const LoopStrip = ({ id, loop }: Pick<SessionState, 'id' | 'loop'>) => (
  <Strip id="loop" session={id} shown={loop !== undefined} warns>
    {loop && (
      <>
        {who(loop.teams)} have been repeating themselves since {loop.since}.
        <span className={FOR_ACTORS}> Tell them what you expect, or clear this if it is intended.</span>
      </>
    )}
  </Strip>
)

const who = (teams: string[]): string => {
  const names = teams.map((name) => escapeInvisible(name))
  return names.length === 2 ? names.join(' and ') : names.length === 3 ? `${names[0]}, ${names[1]} and ${names[2]}` : 'The teams'
}

/** Says that messages wake the teams that sleep no more, and what a person can do about it. */
export const WakesStrip = ({ id, wakes }: Pick<SessionState, 'id' | 'wakes'>) => (
  <Strip id="wakes" session={id} shown={wakes !== undefined} warns={wakes?.since !== undefined}>
    {wakes?.since && (
      <>
        Since {clock(wakes.since)} UTC messages have woken sleeping teams {wakes.perHour} times, without a word from a person. Until{' '}
        {clock(new Date(Date.parse(wakes.since) + HOUR_MS).toISOString())} UTC only what is addressed to a team wakes it.
        <span className={FOR_ACTORS}> What you write wakes them all, and begins the hour anew.</span>
      </>
    )}
    {wakes && !wakes.since && 'Messages do not wake a team that is asleep, unless they are addressed to it or come from a person.'}
  </Strip>
)

const HOUR_MS = 3_600_000

interface StripProps {
  id: string
  session: string
  shown: boolean
  /** The session needs a person, who can write or clear this. Otherwise it only says so. */
  warns: boolean
  children: ReactNode
}

const Strip = ({ id, session, shown, warns, children }: StripProps) => (
  <div
    id={id}
    role="status"
    hidden={!shown}
    className={cn(
      'flex shrink-0 flex-wrap items-center gap-x-3 gap-y-1.5 border-b px-4 py-2 text-[12.5px]',
      warns ? 'bg-warn/15 text-warn-foreground' : 'text-muted-foreground',
    )}
  >
    {shown && <p className="flex-1 basis-72">{children}</p>}
    {shown && warns && (
      <p className={`flex gap-1.5 ${FOR_ACTORS}`}>
        <LinkButton href="#message" size="sm" variant="outline">
          Write to them
        </LinkButton>
        <LinkButton {...inDialog(`/sessions/${session}/release`)} size="sm" variant="outline">
          Clear
        </LinkButton>
      </p>
    )}
  </div>
)
