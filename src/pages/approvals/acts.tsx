// What a signed-in person does to a proposal: approves it, changes and approves it, rejects it, brings it back, withdraws what came of it.
// Each form is answered with the card; without script, with the page that it stood on.
import type { Attempt } from '../../../components/approvals/proposal-acts.tsx'
import { ProposalCard } from '../../../components/approvals/proposal-card.tsx'
import { proposedValues } from '../../../components/approvals/edit-fields.tsx'
import type { Problem } from '../../../components/forms/form-field.tsx'
import type { ProposalView } from '../../../components/approvals/proposal-view.ts'
import { STATUS, type ErrorBody } from '../../core/errors.ts'
import type { Http } from '../../doors/http/http.ts'
import type { AnyOp, Outcome } from '../../operations/context.ts'
import { resolveApproval } from '../../records/proposals/resolve.ts'
import { renewApproval } from '../../records/proposals/renew.ts'
import { withdrawRecord } from '../../records/withdraw.ts'
import { assertActor, performAsPerson, problemOf } from '../forms/perform-as-person.ts'
import { formOf, LARGE_FORM, valuesOf, type Values } from '../forms/fields.ts'
import { fragment, seeOther, type Site } from '../respond.tsx'
import { approvalPageWith, proposalViewOf } from './approval.tsx'
import { afterCard, placeBefore } from './came-from.ts'
import { valueIn } from '../../core/lookup.ts'

/** POST /approvals/:id: `act` (`approve`, `edit` or `reject`), `feedback`, and the fields of an edit. */
export const submitDecision = async (c: Http, site: Site): Promise<Response> => {
  assertActor(c, site)
  const id = c.req.param('id')!
  const values = valuesOf(await formOf(c, LARGE_FORM))
  const form = FORMS.find((one) => one === values.act) ?? 'approve'
  const before = await proposalViewOf(site, id)
  const input = { proposal_id: id, ...decisionIn(form, values, before) }
  return answer(c, site, id, form, values, await performAsPerson(c, site, resolveApproval, values.key, input))
}

const FORMS = ['approve', 'edit', 'reject'] as const

const decisionIn = (form: Attempt['form'], values: Values, before: ProposalView) => {
  const edits = form === 'edit' ? editsIn(values, before) : {}
  return {
    action: form === 'reject' ? 'reject' : 'approve',
    ...(Object.keys(edits).length > 0 && { edits }),
    ...(values.feedback && { feedback: values.feedback }),
  }
}

// The fields of the form, by what the operation calls them.
const EDITABLE = {
  action: { title: 'title', description: 'description', owner: 'owner_name', due: 'due_date', priority: 'priority' },
  decision: { title: 'title', description: 'description', rationale: 'rationale', decided_by: 'decided_by_id' },
} as const

/** What was changed of what the form began with; an emptied field is null. */
const editsIn = (values: Values, before: ProposalView): Record<string, string | null> => {
  const were: Values = proposedValues(before)
  const changed = Object.entries(EDITABLE[before.type]).filter(([field]) => values[field] !== undefined && values[field] !== were[field])
  return Object.fromEntries(changed.map(([field, name]) => [name, valueOf(field, values[field]!)]))
}

const valueOf = (field: string, value: string): string | null => {
  if (field === 'title') return value // cannot be emptied: the refusal says how long it must be
  if (value.trim() === '') return null
  return field === 'due' && /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(value) ? `${value.slice(0, 16)}:00Z` : value
}

/** POST /approvals/:id/renew */
export const submitRenewal = (c: Http, site: Site): Promise<Response> => {
  const id = c.req.param('id')!
  return act(c, site, renewApproval, 'renew', () => ({ id, input: { proposal_id: id } }))
}

/** POST /records/:record/withdraw: `reason`, and the `proposal` whose card the form stands on. */
export const submitWithdrawal = (c: Http, site: Site): Promise<Response> =>
  act(c, site, withdrawRecord, 'withdraw', ({ proposal = '', reason = '' }) => ({
    id: proposal,
    input: { record_id: c.req.param('record'), reason },
  }))

const act = async (
  c: Http,
  site: Site,
  operation: AnyOp,
  form: Attempt['form'],
  read: (values: Values) => { id: string; input: object },
): Promise<Response> => {
  assertActor(c, site)
  const values = valuesOf(await formOf(c))
  const { id, input } = read(values)
  return answer(c, site, id, form, values, await performAsPerson(c, site, operation, values.key, input))
}

// Somebody else was faster, or this very form was sent before with other words: the card says what became of it. That is the whole answer
// to whoever wanted the same and wrote nothing.
const OVERTAKEN = new Set<ErrorBody['code']>(['conflict', 'idempotency_mismatch'])

const answer = async (c: Http, site: Site, id: string, form: Attempt['form'], values: Values, outcome: Outcome): Promise<Response> => {
  const view = await proposalViewOf(site, id)
  const overtaken = !outcome.ok && OVERTAKEN.has(outcome.error.code) && form !== 'renew' && form !== 'withdraw' && view.status !== 'pending'
  const problem = outcome.ok ? undefined : overtaken ? unapplied(form, values, view) : problemIn(outcome.error)
  const attempt = problem && { form, values, problem }
  const status = outcome.ok || !problem ? undefined : STATUS[outcome.error.code]
  if (c.req.header('hx-request')) return fragment(c, <ProposalCard proposal={view} attempt={attempt} place={placeBefore(c)} />, status)
  return attempt ? approvalPageWith(c, site, view, attempt, status) : seeOther(c, afterCard(c, id))
}

const WRITTEN = ['title', 'description', 'rationale', 'owner', 'due', 'feedback'] as const

/** What is lost of a form that came too late, with the words in it that the proposal has not. */
const unapplied = (form: Attempt['form'], values: Values, view: ProposalView): Problem | undefined => {
  const stands: Values = proposedValues(view)
  const written = WRITTEN.map((field) => (values[field] === stands[field] ? undefined : values[field])).filter(Boolean)
  const isSame = form !== 'edit' && view.status === (form === 'reject' ? 'rejected' : 'approved')
  if (written.length === 0 && isSame) return undefined
  const said = written.length > 0 ? ` You had sent: ${written.join(' · ')}` : ''
  return { text: `It was decided before, and what you sent was not applied.${said}` }
}

const FIELDS: Record<string, string> = { owner_name: 'owner', owner_id: 'owner', due_date: 'due', decided_by_id: 'decided_by' }

/** A refusal in words for people, at the field of the form that it is about. */
const problemIn = (error: ErrorBody): Problem => {
  const named = String(error.details.field ?? '').replace(/^edits\./, '')
  const { text, signIn } = problemOf(error)
  return {
    field: named === '' || named === 'edits' ? undefined : (valueIn(FIELDS, named) ?? named),
    text: text.replace(/edits\.\w+: /gi, ''),
    ...(signIn && { signIn }),
  }
}
