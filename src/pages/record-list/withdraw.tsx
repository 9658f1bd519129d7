// A person takes back what was approved, from a list of records: the form is a page, or the content of a dialog.
import { wordsAbout } from '../../../components/board/work-fields.tsx'
import { recordAnchor } from '../../../components/record-list/record-view.ts'
import { refuse } from '../../core/errors.ts'
import { isUuid } from '../../core/ids.ts'
import type { Http } from '../../doors/http/http.ts'
import { withdrawRecord } from '../../records/withdraw.ts'
import { recordOf } from '../../stores/records/record-pages.ts'
import { pageBefore } from '../approvals/came-from.ts'
import { answerForm, formFor, type ShownForm } from '../forms/act-pages.tsx'
import { assertActor, performAsPerson, problemOf } from '../forms/perform-as-person.ts'
import { formOf, valuesOf } from '../forms/fields.ts'
import { localPath, type Site } from '../respond.tsx'

/** GET /sessions/:id/records/:record/withdraw */
export const showWithdraw = (c: Http, site: Site) => formFor(c, site, () => form(c, site, {}))

/** POST /sessions/:id/records/:record/withdraw: `reason`, and `list`, the list of all sessions that it stands in. */
export const submitWithdraw = async (c: Http, site: Site): Promise<Response> => {
  assertActor(c, site)
  const values = valuesOf(await formOf(c))
  const input = { record_id: c.req.param('record'), reason: values.reason ?? '' }
  const outcome = await performAsPerson(c, site, withdrawRecord, values.key, input)
  const list = listOf(values.list)
  return answerForm(c, site, outcome, {
    idempotencyKey: values.key,
    problem: (error) => problemOf(error, ['reason']),
    leadsTo: `${list ?? recordsAt(c)}#${recordAnchor(input.record_id!)}`,
    dialogLeadsTo: list, // a list of all sessions does not live: it is loaded again
    form: () => form(c, site, values),
  })
}

const recordsAt = (c: Http) => `/sessions/${c.req.param('id')}/records`

const listOf = (text: string | undefined): string | undefined => {
  const path = localPath(text)
  return /^\/records(?:\?|$)/.test(path) ? path : undefined
}

/** The list that the browser comes from; undefined for another page. */
const listBefore = (c: Http): string | undefined => {
  const before = pageBefore(c)
  return before && listOf(before.pathname + before.search)
}

const form = async (c: Http, site: Site, values: Record<string, string>): Promise<ShownForm> => {
  const [session, id] = [c.req.param('id')!, c.req.param('record')!]
  const record = isUuid(id) ? await recordOf(site.services.database, session, id) : undefined
  if (!record) return refuse('not_found', 'There is no such record in this session.')
  const list = listOf(values.list) ?? listBefore(c)
  const Words = wordsAbout({
    name: 'reason',
    label: 'Reason',
    hint: 'It stays where it is, struck through, with these words. The teams are told.',
    maxLength: 1_000,
    title: (record.decision ?? record.item).title,
    required: true,
  })
  return {
    session,
    title: record.decision ? 'Withdraw the decision' : 'Withdraw the action item',
    about: record.decision ? 'It is in force no more.' : 'Nobody is to do it.',
    submit: 'Withdraw it',
    action: `${recordsAt(c)}/${id}/withdraw`,
    back: `${list ?? recordsAt(c)}#${recordAnchor(id)}`,
    values,
    fields: (problem) => (
      <>
        {list && <input type="hidden" name="list" value={list} />}
        <Words {...{ values, problem }} />
      </>
    ),
  }
}
