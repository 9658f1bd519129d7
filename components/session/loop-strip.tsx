import { escapeInvisible } from '../../src/core/escape-invisible.ts'
import { inDialog } from './session-actions.tsx'
import type { SessionState } from './session-view.ts'
import { clock } from '../parts/time.ts'
import { LinkButton } from '../ui/button.tsx'

// The strip is sent to all viewers alike. Its actions show only on pages with a dialog, which are those of people who may act.
const FOR_ACTORS = '[body:not(:has(#dialog))_&]:hidden'

/** Says that teams are in a loop, and what a person can do about it. */
export const LoopStrip = ({ id, loop }: Pick<SessionState, 'id' | 'loop'>) => (
  <div
    id="loop"
    role="status"
    hidden={!loop}
    className="flex shrink-0 flex-wrap items-center gap-x-3 gap-y-1.5 border-b bg-warn/15 px-4 py-2 text-[12.5px] text-warn-foreground"
  >
    {loop && (
      <>
        <p className="flex-1 basis-72">
          {who(loop.teams)} have been repeating themselves since {clock(loop.since)} UTC.
          <span className={FOR_ACTORS}> Tell them what you expect, or clear this if it is intended.</span>
        </p>
        <p className={`flex gap-1.5 ${FOR_ACTORS}`}>
          <LinkButton href="#message" size="sm" variant="outline">
            Write to them
          </LinkButton>
          <LinkButton {...inDialog(`/sessions/${id}/release`)} size="sm" variant="outline">
            Clear
          </LinkButton>
        </p>
      </>
    )}
  </div>
)

const who = (teams: string[]): string => {
  const names = teams.map((name) => escapeInvisible(name))
  return names.length === 2 ? names.join(' and ') : names.length === 3 ? `${names[0]}, ${names[1]} and ${names[2]}` : 'The teams'
}
