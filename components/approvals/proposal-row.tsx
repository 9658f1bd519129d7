import { AskingRow } from '../parts/asking-row.tsx'
import { TeamName, type Team } from '../parts/team.tsx'
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
export const ProposalRow = ({ item: { sequence, at, team, card } }: { item: ProposalItem }) => {
  const heading = (
    <>
      <TeamName team={team ?? card.by} /> proposes {WHAT[card.type]}
    </>
  )
  return (
    <AskingRow sequence={sequence} at={at} sign="!" heading={heading}>
      <div className="max-w-2xl">
        <ProposalCard proposal={card} place="feed" />
      </div>
    </AskingRow>
  )
}
