// One proposal on a page of its own, which is where its url leads.
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { ApprovalPage } from '../../../components/approvals/approval-page.tsx'
import type { Attempt } from '../../../components/approvals/proposal-acts.tsx'
import type { ProposalView } from '../../../components/approvals/proposal-view.ts'
import { refuse } from '../../core/errors.ts'
import { isUuid } from '../../core/ids.ts'
import { redacted } from '../../core/text/text.ts'
import type { Http } from '../../doors/http/http.ts'
import { proposalsByIds } from '../../stores/records/proposal-list.ts'
import { frameOf, page, type Site } from '../respond.tsx'
import { proposalView } from './card-view.ts'

/** The proposal of this id as its card shows it; 404 where there is none. */
export const proposalViewOf = async ({ services }: Site, id: string): Promise<ProposalView> => {
  const [row] = isUuid(id) ? await proposalsByIds(services.database, [id]) : []
  return row
    ? proposalView(services, services.database, row)
    : refuse('not_found', 'There is no such proposal.', { proposal_id: redacted(id) })
}

/** GET /approvals/:id */
export const approvalPage = async (c: Http, site: Site): Promise<Response> =>
  approvalPageWith(c, site, await proposalViewOf(site, c.req.param('id')!))

/** The page, or one on which a form was not applied. */
export const approvalPageWith = (c: Http, site: Site, proposal: ProposalView, attempt?: Attempt, status?: ContentfulStatusCode) => {
  const frame = frameOf(c, site)
  const shown = attempt ? { ...frame, path: `/approvals/${proposal.id}` } : frame
  return page(c, <ApprovalPage {...{ frame: shown, proposal, attempt }} />, status)
}
