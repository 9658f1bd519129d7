import { inDialog } from '../session/session-actions.tsx'
import type { WorkItem } from './board-view.ts'

/** What a person can do about an item. Links to forms, which open as dialogs where scripts run: what arrives meanwhile moves the board, and
 *  nothing that is being typed. */
export const WorkActs = ({ session, item: { id, list, idempotencyKey } }: { session: string; item: WorkItem }) => {
  const at = `/sessions/${session}/board/${id}`
  const over = list === 'done' || list === 'dropped'
  return (
    <p className={'work-acts'}>
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
          <input type="hidden" name="key" value={`reopen.${idempotencyKey}`} />
          <button type="submit">Open again</button>
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

const Act = ({ to, children }: { to: string; children: string }) => <a {...inDialog(to)}>{children}</a>
