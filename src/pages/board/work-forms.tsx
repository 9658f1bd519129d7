// What a signed-in person does to a board, each with a form: GET shows it (a page, or the content of a dialog), POST applies it.
import type { ReactElement } from 'react'
import { itemAnchor } from '../../../components/board/board-view.ts'
import { WorkFields, wordsAbout } from '../../../components/board/work-fields.tsx'
import { planWork } from '../../board/plan-work.ts'
import { updateWork } from '../../board/update-work.ts'
import { refuse, type ErrorBody } from '../../core/errors.ts'
import { isUuid } from '../../core/ids.ts'
import { withLf } from '../../core/text/line-breaks.ts'
import type { Http } from '../../doors/http/http.ts'
import { existingSession } from '../../rooms/preconditions.ts'
import { boardNow } from '../../rooms/work/open-work.ts'
import { roster } from '../../stores/members.ts'
import { itemsById, type Item } from '../../stores/records/items.ts'
import { answerForm, formFor, type ShownForm } from '../forms/act-pages.tsx'
import { assertActor, performAsPerson, problemOf } from '../forms/perform-as-person.ts'
import { beginning, changed, formOf, LARGE_FORM, valuesOf, type Values } from '../forms/fields.ts'
import { seeOther, type Site } from '../respond.tsx'

/** GET /sessions/:id/board/new */
export const showNewWork = (c: Http, site: Site) =>
  formFor(c, site, () => workForm(site, c.req.param('id')!, undefined, { values: {}, waitsFor: [] }))

/** POST /sessions/:id/board/new */
export const submitNewWork = async (c: Http, site: Site): Promise<Response> => {
  assertActor(c, site)
  const session_id = c.req.param('id')!
  const { values, waitsFor } = submitted(await formOf(c, LARGE_FORM))
  const { owner, ...said } = fieldsOf(values, waitsFor)
  const items = [{ ...said, ...(owner && { owner }) }]
  const outcome = await performAsPerson(c, site, planWork, values.key, { session_id, items })
  const added = outcome.ok ? (outcome.data.items as { item_id: string }[])[0]!.item_id : ''
  return answerForm(c, site, outcome, {
    idempotencyKey: values.key,
    problem: problemIn,
    leadsTo: boardAt(session_id, added),
    form: () => workForm(site, session_id, undefined, { values, waitsFor }),
  })
}

/** GET /sessions/:id/board/:item/:form */
export const showWork = (c: Http, site: Site) =>
  formFor(c, site, async () => {
    const item = await itemIn(site, c)
    return formOn(site, item, nameIn(c), startOf(item))
  })

/** POST /sessions/:id/board/:item/:form */
export const submitWork = async (c: Http, site: Site): Promise<Response> => {
  assertActor(c, site)
  const name = nameIn(c)
  const [session_id, item_id] = [c.req.param('id')!, c.req.param('item')!]
  const { values, waitsFor } = submitted(await formOf(c, LARGE_FORM))
  const input = INPUTS[name](values, waitsFor)
  if (Object.keys(input).length === 0) return unchanged(c, boardAt(session_id, item_id))
  const outcome = await performAsPerson(c, site, updateWork, values.key, { session_id, item_id, ...input })
  return answerForm(c, site, outcome, {
    idempotencyKey: values.key,
    problem: problemIn,
    leadsTo: boardAt(session_id, item_id),
    form: async () => formOn(site, await itemIn(site, c), name, { values, waitsFor }),
  })
}

// A form in which nothing was changed.
const unchanged = (c: Http, back: string) => (c.req.header('hx-request') ? c.body('', 200) : seeOther(c, back))

const FORMS = ['edit', 'done', 'drop', 'release', 'reopen'] as const
type FormName = (typeof FORMS)[number]

const INPUTS: Record<FormName, (values: Values, waitsFor: string[]) => object> = {
  edit: (values, waitsFor) => changedIn(values, waitsFor),
  done: ({ result }) => ({ status: 'done', ...(result && { result }) }),
  drop: ({ note }) => ({ status: 'dropped', ...(note && { note }) }),
  release: ({ note }) => ({ status: 'open', ...(note && { note }) }),
  reopen: () => ({ status: 'open' }),
}

const nameIn = (c: Http): FormName => FORMS.find((name) => name === c.req.param('form')) ?? refuse('not_found', 'There is no such form.')

const boardAt = (session: string, item: string) => `/sessions/${session}/board#${itemAnchor(item)}`

const itemIn = async ({ services: { database } }: Site, c: Http): Promise<Item> => {
  const [session, id] = [c.req.param('id')!, c.req.param('item')!]
  const item = isUuid(id) ? (await itemsById(database, [id])).get(id) : undefined
  return item?.sessionId === session ? item : refuse('not_found', 'There is no such item in this session.')
}

interface Filled {
  values: Values
  waitsFor: string[]
}

const FIELDS = ['title', 'description', 'priority', 'owner', 'paths'] as const

const startOf = ({ title, description, priority, owner, paths, dependsOn }: Item): Filled => {
  const values = { title, description: withLf(description), priority, owner: owner?.name ?? '', paths: paths.join('\n') }
  return { values: beginning(values, textsOf(values, dependsOn)), waitsFor: dependsOn }
}

const submitted = (form: URLSearchParams): Filled => ({ values: valuesOf(form), waitsFor: form.getAll('depends_on') })

const linesOf = (text = '') => text.split('\n').map((line) => line.trim()).filter((line) => line !== '') // prettier-ignore

const fieldsOf = (values: Values, depends_on: string[]) => {
  const { title = '', description = '', priority = 'medium', owner = '', paths } = values
  return { title, description, priority, owner, paths: linesOf(paths), depends_on }
}

// Each field as one text, to compare: the same where paths differ in their blanks alone, or what the item waits for in its order.
const textsOf = (values: Values, waitsFor: string[]): Values =>
  Object.fromEntries(Object.entries(fieldsOf(values, waitsFor.toSorted())).map(([name, value]) => [name, String(value)]))

const changedIn = (values: Values, waitsFor: string[]): object => {
  const given = changed(textsOf(values, waitsFor), values.was)
  return Object.fromEntries(Object.entries(fieldsOf(values, waitsFor)).filter(([name]) => name in given))
}

const problemIn = (error: ErrorBody) => {
  const field = String(error.details.field ?? '').replace(/^items\.0\./, '').replace(/\.\d+$/, '') // prettier-ignore
  return problemOf({ ...error, message: error.message.replaceAll('items.0.', ''), details: { ...error.details, field } }, [
    ...FIELDS,
    'depends_on',
    'note',
    'result',
  ])
}

const workForm = async (site: Site, sessionId: string, item: Item | undefined, { values, waitsFor }: Filled): Promise<ShownForm> => {
  const { database } = site.services
  const session = await existingSession(database, sessionId)
  const [teams, board] = await Promise.all([roster(database, session.id), boardNow(site.services, database, session.id)])
  const here = teams.filter(({ leftAt }) => leftAt === null).map(({ teamName }) => teamName)
  const owners = [...new Set([...(values.owner ? [values.owner] : []), ...here])]
  const others = board.rows
    .filter(({ id, status }) => id !== item?.id && (waitsFor.includes(id) || status === 'open' || status === 'claimed'))
    .map(({ id, title }) => ({ id, title }))
  const at = `/sessions/${session.id}/board`
  return {
    session: session.id,
    title: item ? 'Edit the item' : 'Add an item',
    about: item ? 'Teams see what it says with their next look at the board.' : 'Teams are told that there is work to claim.',
    submit: item ? 'Change' : 'Add',
    action: item ? `${at}/${item.id}/edit` : `${at}/new`,
    back: item ? boardAt(session.id, item.id) : at,
    values,
    fields: (problem) => <WorkFields {...{ values, problem, owners, others, waitsFor }} />,
  }
}

const WORDS: Record<
  Exclude<FormName, 'edit' | 'reopen'>,
  Pick<ShownForm, 'title' | 'about' | 'submit'> & Omit<Parameters<typeof wordsAbout>[0], 'title'>
> = {
  done: {
    title: 'It is done',
    about: 'What waits for it can begin, and the teams are told.',
    submit: 'Done',
    name: 'result',
    label: 'Result',
    hint: 'Optional. What came of it, for those who build on it.',
    maxLength: 2_000,
  },
  drop: {
    title: 'Drop the item',
    about: 'Nobody is to do it. What waits for it can begin, and the teams are told.',
    submit: 'Drop it',
    name: 'note',
    label: 'Why',
    hint: 'Optional. It stands beside the item.',
    maxLength: 1_000,
  },
  release: {
    title: 'Take the item back',
    about: 'Its team loses it, and any team can claim it. All are told.',
    submit: 'Take back',
    name: 'note',
    label: 'Note',
    hint: 'Optional. What whoever goes on should know.',
    maxLength: 1_000,
  },
}

const formOn = async (site: Site, item: Item, name: FormName, filled: Filled): Promise<ShownForm> => {
  if (name === 'edit') return workForm(site, item.sessionId, item, filled)
  if (name === 'reopen') return reopenForm(item)
  const { title, about, submit, ...words } = WORDS[name]
  const Words = wordsAbout({ ...words, title: item.title })
  const { values } = filled
  return {
    session: item.sessionId,
    title,
    about,
    submit,
    action: `/sessions/${item.sessionId}/board/${item.id}/${name}`,
    back: boardAt(item.sessionId, item.id),
    values: { ...values, [words.name]: values[words.name] ?? '' },
    fields: (problem): ReactElement => <Words {...{ values, problem }} />,
  }
}

const reopenForm = (item: Item): ShownForm => ({
  session: item.sessionId,
  title: 'Open it again',
  about: `“${item.title}” can be claimed again. The teams are told.`,
  submit: 'Open again',
  action: `/sessions/${item.sessionId}/board/${item.id}/reopen`,
  back: boardAt(item.sessionId, item.id),
  values: {},
  fields: () => <></>,
})
