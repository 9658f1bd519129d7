import { TeamName, type Team } from '../parts/team.tsx'
import { clock, moment } from '../parts/time.ts'
import { ProposalCard } from './proposal-card.tsx'
import type { ProposalView } from './proposal-view.ts'

/** The card of a proposal as a row of the feed. */
export interface ProposalItem {
  kind: 'proposal'
  sequence: number
  at: string
  team: Team | undefined
  card: ProposalView
}

const WHAT = { action: 'an action item', decision: 'a decision' }

/** What somebody proposed, where it was proposed. */
export const ProposalRow = ({ item: { sequence, at, team, card } }: { item: ProposalItem }) => (
  <li id={`m${sequence}`} className="row row-message relative flex gap-3 px-4 pt-3 pb-1">
    <span aria-hidden="true" className="grid size-7 shrink-0 place-items-center rounded-md bg-warn/15 font-semibold text-warn-foreground">
      !
    </span>
    <div className="min-w-0 flex-1">
      <p className="mb-1 flex items-baseline gap-2 text-[13px]">
        <span className="min-w-0">
          <TeamName team={team ?? card.by} /> proposes {WHAT[card.type]}
        </span>
        <a
          href={`#m${sequence}`}
          aria-label={`Message ${sequence}, ${clock(at)}`}
          className="ml-auto shrink-0 text-[11px] text-muted-foreground tabular-nums"
        >
          <time dateTime={at} title={moment(at)}>
            {clock(at)}
          </time>
        </a>
      </p>
      <div className="max-w-2xl">
        <ProposalCard proposal={card} place="feed" />
      </div>
    </div>
  </li>
)
