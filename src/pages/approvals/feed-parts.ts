// What rows of a feed show of proposals: read with the rows, and only where there are any.
import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { ProposalCard } from '../../../components/approvals/proposal-card.tsx'
import { anchorOf, type ProposalView } from '../../../components/approvals/proposal-view.ts'
import type { Queries } from '../../../db/database.ts'
import { isUuid } from '../../core/ids.ts'
import type { Services } from '../../process/services.ts'
import type { Event } from '../../stores/events.ts'
import { proposalsByIds } from '../../stores/records/proposal-list.ts'
import type { Replaced } from '../agents/feed-parts.tsx'
import { proposalViews } from './card-view.ts'

interface ProposalParts {
  /** The proposals that rows show, by their ids. */
  shown: Map<string, ProposalView>
  /** Cards of earlier rows that these events changed. */
  replaced: Replaced[]
}

/** What `events` of one session need. */
export const proposalPartsOf = async (
  { services, queries, sessionId }: { services: Pick<Services, 'clock'>; queries: Queries; sessionId: string },
  events: Event[],
): Promise<ProposalParts> => {
  const named = new Map(events.flatMap(({ event, proposal_id: id }) => (typeof id === 'string' && isUuid(id) ? [[id, event]] : [])))
  if (named.size === 0) return { shown: new Map(), replaced: [] }
  const rows = await proposalsByIds(queries, [...named.keys()])
  const views = await proposalViews(
    services,
    queries,
    rows.filter(({ proposal }) => proposal.sessionId === sessionId), // an imported feed may name others
  )
  const made = new Set(events.flatMap(({ event, proposal_id: id }) => (event === 'proposal_made' ? [id] : [])))
  return {
    shown: new Map(views.map((view) => [view.id, view])),
    replaced: views.filter(({ id }) => !made.has(id)).map(cardPart),
  }
}

const cardPart = (proposal: ProposalView): Replaced => ({
  id: anchorOf(proposal.id),
  html: renderToStaticMarkup(createElement(ProposalCard, { proposal, place: 'feed' })),
})
