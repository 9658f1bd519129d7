import { escapeInvisible } from '../../src/core/text/escape-invisible.ts'
import { counted } from '../../src/core/text/numbers.ts'
import { AskingRow } from '../parts/asking-row.tsx'
import { cn } from '../parts/cn.ts'
import { TeamName } from '../parts/team.tsx'
import { FOR_ACTORS } from '../session/warning-strip.tsx'
import { Button } from '../ui/button.tsx'
import { Input } from '../ui/input.tsx'
import type { PermissionItem, PermissionView } from './agent-view.ts'

/** What the agent asks permission for, as a row of the feed. */
export const PermissionRow = ({ item: { sequence, at, team, card } }: { item: PermissionItem }) => {
  const heading = <>{team ? <TeamName team={team} /> : 'The agent'} asks for permission</>
  return (
    <AskingRow sequence={sequence} at={at} sign="?" heading={heading}>
      <PermissionCard card={card} />
    </AskingRow>
  )
}

/** The card: what is asked, and the answer or the way to give it. An open page puts the answered one in its place. */
export const PermissionCard = ({ card }: { card: PermissionView }) => {
  const open = card.left !== undefined
  return (
    <section
      id={card.anchor}
      tabIndex={-1}
      data-card={open ? 'open' : 'done'}
      aria-label={`Permission for ${escapeInvisible(card.tool)}`}
      className={cn('max-w-2xl rounded-lg border p-3 text-[13px]', open ? 'border-warn/50 bg-warn/8' : 'bg-muted/40')}
    >
      <p className="font-medium">
        {card.raise ? (
          <>
            May it from now on ask for up to <code className="font-mono text-[12.5px]">{card.raise}</code>?
          </>
        ) : (
          <>
            May it use <code className="font-mono text-[12.5px]">{escapeInvisible(card.tool)}</code>?
          </>
        )}
      </p>
      {card.text !== '' && (
        <pre className="mt-1.5 rounded-md border bg-card px-2.5 py-1.5 font-mono text-[12px] leading-relaxed whitespace-pre-wrap wrap-anywhere">
          {escapeInvisible(card.text)}
        </pre>
      )}
      {card.call && (
        <details open={card.call.open} className="mt-1.5 text-[12px] text-muted-foreground">
          <summary className="w-fit cursor-pointer">
            {card.call.cut ? 'The beginning of the call: all of it is too long to show' : 'All of the call'}
          </summary>
          <pre className="mt-1 rounded-md border bg-card px-2.5 py-1.5 font-mono text-[12px] whitespace-pre-wrap text-foreground wrap-anywhere">
            {escapeInvisible(card.call.text)}
          </pre>
        </details>
      )}
      {card.decided ? (
        <Decided {...card.decided} />
      ) : open ? (
        <Answer card={card} />
      ) : (
        <p className={OUTCOME}>{card.over ? OVER : TOO_LATE}</p>
      )}
    </section>
  )
}

const TOO_LATE = 'Nobody answered in time, so it was denied.'
const OVER = 'Its task ended before anybody answered.'
const OUTCOME = 'mt-2 text-[12.5px] text-muted-foreground wrap-anywhere'

const Decided = ({ by, allow, message }: NonNullable<PermissionView['decided']>) => (
  <p className={OUTCOME}>
    <b className={cn('font-medium', allow ? 'text-ok-foreground' : 'text-destructive-foreground')}>{allow ? 'Allowed' : 'Denied'}</b> by{' '}
    <bdi className="text-foreground">{escapeInvisible(by)}</bdi>
    {message && (
      <>
        : <q dir="auto">{escapeInvisible(message)}</q>
      </>
    )}
  </p>
)

const ACT = 'h-9 max-sm:h-11 max-sm:flex-1'

// Enter in the field presses the form's first button. That one is disabled: only a button that somebody chose decides.
const Answer = ({ card }: { card: PermissionView }) => {
  const action = `/sessions/${card.session}/permission`
  return (
    <>
      <form
        method="post"
        action={action}
        hx-post={action}
        hx-swap="none"
        hx-disable="findAll [name=allow]"
        className={`mt-2.5 grid gap-2 ${FOR_ACTORS}`}
      >
        <button type="submit" disabled hidden />
        <input type="hidden" name="request_id" value={card.request} />
        <Input name="message" maxLength={2_000} aria-label="A word to the agent" placeholder="A word to the agent (optional)" />
        <div className="flex gap-2">
          <Button type="submit" name="allow" value="true" data-shortcut="a" className={ACT}>
            Allow once
          </Button>
          <Button type="submit" name="allow" value="false" data-shortcut="x" variant="outline" className={ACT}>
            Deny
          </Button>
        </div>
      </form>
      <p className="mt-2 text-[12px] text-warn-foreground tabular-nums">
        <SecondsLeft card={card} />
      </p>
    </>
  )
}

/** Counts down on an open page. */
export const SecondsLeft = ({ card: { anchor, left = 0 } }: { card: PermissionView }) => (
  <span id={`${anchor}-left`}>{timeOf(left)} left. If nobody answers, it is denied.</span>
)

const timeOf = (seconds: number) => (seconds >= 100 ? counted(Math.ceil(seconds / 60), 'minute') : counted(seconds, 'second'))
