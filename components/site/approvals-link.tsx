import { Icon } from '../parts/icon.tsx'
import { LinkButton } from '../ui/button.tsx'

const MOST_SHOWN = 99

/** The way to the inbox, with the number that waits there. An open page puts a new one in its place. */
export const ApprovalsLink = ({ waiting }: { waiting: number }) => (
  <LinkButton id="approvals-link" variant="ghost" href="/approvals" data-waiting={waiting} title="Approvals" className="header-link">
    <Icon name="inbox" />
    <span aria-hidden="true" className="max-lg:hidden">
      Approvals
    </span>
    {waiting > 0 && (
      <span aria-hidden="true" className="count tabular-nums">
        {waiting > MOST_SHOWN ? `${MOST_SHOWN}+` : waiting}
      </span>
    )}
    <span className="sr-only">{waiting === 0 ? 'Approvals' : `Approvals, ${waiting} waiting`}</span>
  </LinkButton>
)

/** A page's title with the number that waits, as public/counted.js keeps it. */
export const countedTitle = (title: string, waiting: number): string => (waiting === 0 ? title : `(${waiting}) ${title}`)
