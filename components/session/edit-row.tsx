import type { ReactNode } from 'react'
import type { Version } from '../document/doc-history.ts'
import { Icon } from '../parts/icon.tsx'
import { TeamName, type Team } from '../parts/team.tsx'
import { clock, moment } from '../parts/time.ts'
import { ChangedLines } from '../document/version-list.tsx'

/** Edits of the document, by one author or several, as a row of the feed: they are no events. */
export interface EditItem {
  kind: 'edit'
  from: number
  to: number
  at: string
  /** Undefined for several authors. */
  team: Team | undefined
  changed: Version['changed']
  /** The page of the document's versions; undefined for guests, to whom it is closed. */
  history: string | undefined
}

/** The whole row is a link to the difference. */
export const EditRow = ({ item: { from, to, at, team, changed, history } }: { item: EditItem }) => (
  <li id={`d${from}`} className="row row-event row-doc group relative flex gap-3 px-4 py-1 text-[12.5px] leading-5 text-muted-foreground">
    <span className="grid h-5 w-7 shrink-0 place-items-center">
      <Icon name="document" className="size-3.5" />
    </span>
    <div className="min-w-0 flex-1 wrap-anywhere group-has-[a:hover]:underline sm:pr-10">
      {team ? (
        <>
          <TeamName team={team} /> updated the document
        </>
      ) : (
        'The document was updated'
      )}
      {from === to ? ' to ' : <>, {name(from)} to </>}
      {name(to)}
      <ChangedLines changed={changed} className="ml-2 inline-flex" />
    </div>
    {history && (
      <a
        href={`${history}?from=${from - 1}&to=${to}`}
        aria-label={`What changed, v${from - 1} to v${to}`}
        className="absolute inset-0 focus-visible:-outline-offset-2 in-data-guest:hidden"
      />
    )}
    <time
      dateTime={at}
      title={moment(at)}
      className="absolute top-1 right-4 text-[11px] tabular-nums opacity-0 transition-opacity group-hover:opacity-100 max-sm:hidden"
    >
      {clock(at)}
    </time>
  </li>
)

const name = (version: number): ReactNode => <b className="font-medium text-foreground">v{version}</b>
