import { cn } from '../parts/cn.ts'
import { inDialog } from '../session/session-actions.tsx'
import { FOR_ACTORS } from '../session/warning-strip.tsx'
import { Button, LinkButton } from '../ui/button.tsx'
import type { WorkItem } from './board-view.ts'

/** What a person can do about an item. Links to forms, which open as dialogs where scripts run: what arrives meanwhile moves the board, and
 *  nothing that is being typed. */
export const WorkActs = ({ session, item: { id, list, key } }: { session: string; item: WorkItem }) => {
  const at = `/sessions/${session}/board/${id}`
  const over = list === 'done' || list === 'dropped'
  return (
    <p className={cn('work-acts concluded:hidden', FOR_ACTORS)}>
      {list === 'claimed' && <Act to={`${at}/release`}>Take back</Act>}
      {over ? (
        <form
          method="post"
          action={`${at}/reopen`}
          hx-post={`${at}/reopen`}
          hx-swap="none"
          hx-disable="find [type=submit]"
          className="flex"
        >
          <input type="hidden" name="key" value={`reopen.${key}`} />
          <Button type="submit" variant="ghost" size="sm" className={ACT}>
            Open again
          </Button>
        </form>
      ) : (
        <>
          <Act to={`${at}/edit`}>Edit</Act>
          <Act to={`${at}/done`}>Done</Act>
          <Act to={`${at}/drop`}>Drop</Act>
        </>
      )}
    </p>
  )
}

const ACT = 'h-7 px-2 text-[12px] font-normal underline-offset-2 hover:underline max-sm:h-11 max-sm:text-[13px] pointer-coarse:h-11'

const Act = ({ to, children }: { to: string; children: string }) => (
  <LinkButton variant="ghost" size="sm" className={ACT} {...inDialog(to)}>
    {children}
  </LinkButton>
)
