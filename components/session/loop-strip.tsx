import { visible } from '../../src/core/escape-invisible.ts'
import { inDialog } from './session-actions.tsx'
import type { SessionState } from './session-view.ts'
import { clock } from '../parts/time.ts'
import { LinkButton } from '../ui/button.tsx'

// Sent to all alike: what can be done about it shows where somebody may, which is where the dialog is.
const MAY_ACT = '[body:not(:has(#dialog))_&]:hidden'

/** That the teams go round in circles, and what a person can do about it. */
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
          <span className={MAY_ACT}> Tell them what you expect, or clear this if it is intended.</span>
        </p>
        <p className={`flex gap-1.5 ${MAY_ACT}`}>
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
  const names = teams.map((name) => visible(name))
  return names.length === 2 ? names.join(' and ') : names.length === 3 ? `${names[0]}, ${names[1]} and ${names[2]}` : 'The teams'
}
