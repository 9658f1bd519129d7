// Forms by which a person acts, as pages of their own and in dialogs: shown, and shown again with what was typed where they were not applied.
import type { ReactElement } from 'react'
import { FormDialog, FormPage, type FormView } from '../../../components/forms/act-form.tsx'
import type { Problem } from '../../../components/forms/form-field.tsx'
import { STATUS, type ErrorBody } from '../../core/errors.ts'
import { actorOf, personOf } from '../../doors/http/cookies.ts'
import type { Http } from '../../doors/http/http.ts'
import type { Outcome } from '../../operations/context.ts'
import { fragment, frameOf, leadTo, page, seeOther, toSignIn, type Site } from '../respond.tsx'
import { assertActor, nextIdempotencyKey } from './perform-as-person.ts'

export interface ShownForm extends Pick<FormView, 'title' | 'about' | 'submit' | 'action' | 'back'> {
  /** The session that it is about; undefined where there is none yet. */
  session: string | undefined
  values: Record<string, string>
  fields: (problem: Problem | undefined) => ReactElement
}

/** GET: the form, as a page; for htmx as the content of a dialog. */
export const formFor = async (c: Http, site: Site, form: () => Promise<ShownForm>): Promise<Response> => {
  // Somebody who may not act gets a page that says so, not a dialog.
  if (c.req.header('hx-request') && !actorOf(c, site.services)) return leadTo(c, new URL(c.req.url).pathname)
  if (!personOf(c, site.services)) return toSignIn(c, site)
  assertActor(c, site)
  return render(c, site, await form(), crypto.randomUUID())
}

export interface Answer {
  /** The form was sent with this one. */
  idempotencyKey: string | undefined
  /** A refusal in words for people. */
  problem: (error: ErrorBody) => Problem
  /** Where a page goes afterwards, and a dialog; one that goes nowhere closes. */
  leadsTo: string
  dialogLeadsTo?: string | undefined
  /** The form with what was typed. */
  form: () => Promise<ShownForm>
}

/** POST: after success a dialog gets an empty response, on which it closes, and a page leads on; after a refusal the form comes back. */
export const answerForm = async (c: Http, site: Site, outcome: Outcome, answer: Answer): Promise<Response> => {
  const { idempotencyKey, problem, leadsTo, dialogLeadsTo, form } = answer
  const dialog = c.req.header('hx-request') !== undefined
  if (outcome.ok && !dialog) return seeOther(c, leadsTo)
  if (outcome.ok) return dialogLeadsTo ? leadTo(c, dialogLeadsTo) : c.body('', 200)
  const { error } = outcome
  return render(c, site, await form(), nextIdempotencyKey(idempotencyKey, error), problem(error), STATUS[error.code])
}

/** The form again, with what was typed: nothing was applied. */
export const formAgain = (c: Http, site: Site, form: ShownForm): Promise<Response> | Response => render(c, site, form, crypto.randomUUID())

const render = (
  c: Http,
  site: Site,
  { session, fields, ...form }: ShownForm,
  idempotencyKey: string,
  problem?: Problem,
  status?: Parameters<typeof fragment>[2],
) => {
  const view: FormView = { ...form, idempotencyKey, problem, fields: fields(problem) }
  if (c.req.header('hx-request')) return fragment(c, <FormDialog act={view} />, status)
  const frame = { ...frameOf(c, site), path: form.back }
  const crumb = session === undefined ? undefined : { label: session.slice(0, 8), href: `/sessions/${session}` }
  return page(c, <FormPage frame={frame} crumb={crumb} act={view} />, status)
}
