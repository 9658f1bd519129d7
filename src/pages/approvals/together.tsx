// Proposals of one team, approved with one question: one after the other, each as if it had been approved alone.
import { renderToStaticMarkup } from 'react-dom/server'
import { TogetherDone } from '../../../components/approvals/inbox-groups.tsx'
import type { TogetherOutcome } from '../../../components/approvals/inbox-view.ts'
import { ProposalCard } from '../../../components/approvals/proposal-card.tsx'
import { anchorOf, type ProposalView } from '../../../components/approvals/proposal-view.ts'
import { refuse } from '../../core/errors.ts'
import { isUuid } from '../../core/ids.ts'
import type { Http } from '../../doors/http/http.ts'
import { resolveApproval } from '../../records/proposals/resolve.ts'
import { proposalsByIds } from '../../stores/records/proposal-list.ts'
import { assertActor, performAsPerson, problemOf } from '../forms/perform-as-person.ts'
import { formOf } from '../forms/fields.ts'
import { partial } from '../live/partial.ts'
import { htmlResponse, type Site } from '../respond.tsx'
import { proposalViews } from './card-view.ts'
import { waitingPage } from './inbox.tsx'

const MOST = 100 // as many as a session can have pending

/** POST /approvals: the ids in `proposal`, each with its `key`. htmx gets what came of each, and the cards. */
export const submitTogether = async (c: Http, site: Site): Promise<Response> => {
  assertActor(c, site)
  const form = await formOf(c)
  const [ids, idempotencyKeys] = [form.getAll('proposal').slice(0, MOST), form.getAll('key')]
  if (ids.length === 0 || !ids.every(isUuid))
    refuse('invalid_request', 'proposal: name the proposals to approve, by their ids.', { field: 'proposal' })
  const said = new Map<string, string>()
  for (const [i, id] of ids.entries()) {
    const outcome = await performAsPerson(c, site, resolveApproval, idempotencyKeys[i], { proposal_id: id, action: 'approve' })
    said.set(id, outcome.ok ? 'Approved.' : problemOf(outcome.error).text)
  }
  const { services } = site
  const rows = await proposalsByIds(services.database, ids)
  const views = new Map((await proposalViews(services, services.database, rows)).map((view) => [view.id, view]))
  const outcomes = ids.map((id) => outcomeOf(said.get(id)!, views.get(id)))
  if (!c.req.header('hx-request')) return waitingPage(c, site, outcomes, ids)
  const cards = [...views.values()].map((view) =>
    partial(`#${anchorOf(view.id)}`, 'outerMorph', renderToStaticMarkup(<ProposalCard proposal={view} />)),
  )
  return htmlResponse(c, renderToStaticMarkup(<TogetherDone outcomes={outcomes} />) + cards.join(''))
}

const outcomeOf = (said: string, view: ProposalView | undefined): TogetherOutcome => ({
  title: view?.title ?? 'a proposal that is not there any more',
  done: said === 'Approved.',
  said,
})
