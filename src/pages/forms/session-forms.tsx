// What a signed-in person can do to sessions, each with a form: GET shows it (as a page, or for the dialog of a page), POST does it.
import type { ReactElement } from 'react'
import { ActDialog, ActPage, type ActView } from '../../../components/forms/act-form.tsx'
import {
  ConclusionFields,
  ConclusionPreview,
  ConvenerFields,
  MetadataFields,
  ReopenFields,
  SessionFields,
  type FieldsProps,
} from '../../../components/forms/act-fields.tsx'
import type { AnyOp } from '../../operations/context.ts'
import { STATUS, type ErrorBody } from '../../core/errors.ts'
import { isUuid } from '../../core/ids.ts'
import { prepareMarkdown } from '../../markdown/render.ts'
import { conclusionOf } from '../../rooms/conclusion.ts'
import { transferConvener } from '../../rooms/convener.ts'
import { releaseSession } from '../../rooms/loops.ts'
import { startSession } from '../../rooms/create-session.ts'
import { existingSession } from '../../rooms/preconditions.ts'
import { concludeSession, reopenSession, updateSessionMetadata } from '../../rooms/session-lifecycle.ts'
import { readDocument } from '../../stores/documents.ts'
import { roster } from '../../stores/members.ts'
import { sessionById, type Session } from '../../stores/sessions.ts'
import { actorOf, personOf } from '../../doors/http/cookies.ts'
import type { Http } from '../../doors/http/http.ts'
import { act, assertActor, nextKey, problemOf } from './perform-as-person.ts'
import { fragment, frameOf, page, seeOther, toSignIn, type Site } from '../respond.tsx'
import { formOf, LARGE_FORM, valuesOf } from '../form.ts'

type Values = Record<string, string>
type Teams = FieldsProps['teams']

interface Act {
  title: string
  about: string
  submit: string
  operation: AnyOp
  fields: (props: FieldsProps) => ReactElement
  /** What the form says at first. A session that does not exist yet has none. */
  begin?: (site: Site, session: Session) => Values | Promise<Values>
  teams?: (site: Site, sessionId: string) => Promise<Teams>
  input: (values: Values, sessionId: string | undefined) => object
  /** The session's page by default. */
  leadsTo?: (answer: Record<string, unknown>) => string
}

const beginning = ({ title, description, expected_teams }: Values) => ({ title, description, expected_teams: Number(expected_teams) })
const invite = ({ session_id }: Record<string, unknown>) => `/connect?session=${String(session_id)}`

const ACTS = {
  new: {
    title: 'New session',
    about: 'Say what it is for. Next you get an invitation to paste to your agents.',
    submit: 'Open the session',
    operation: startSession,
    fields: SessionFields,
    input: beginning,
    leadsTo: invite,
  },
  resume: {
    title: 'Resume in a new session',
    about: 'The new session continues this one: its document opens with the conclusion and a link back.',
    submit: 'Open the session',
    operation: startSession,
    fields: SessionFields,
    begin: (_, { title, description, expectedTeams }) => ({ title, description, expected_teams: String(expectedTeams) }),
    input: (values, sessionId) => ({ ...beginning(values), resume_from: sessionId }),
    leadsTo: invite,
  },
  edit: {
    title: 'Change title or description',
    about: 'Use this when the scope or goal has changed. The feed shows the old and the new text.',
    submit: 'Change',
    operation: updateSessionMetadata,
    fields: MetadataFields,
    begin: (_, { title, description }) => ({ title, description }),
    input: ({ title, description, reason }, session_id) => ({ session_id, title, description, reason }),
  },
  conclude: {
    title: 'Conclude the session',
    about: 'No more messages can be posted; everything stays readable. Concluding again revises the text.',
    submit: 'Conclude',
    operation: concludeSession,
    fields: ConclusionFields,
    begin: async ({ services }, { id }) => ({ summary_section: conclusionOf((await readDocument(services.database, id)).content) ?? '' }),
    input: ({ summary_section }, session_id) => ({ session_id, summary_section }),
  },
  reopen: {
    title: 'Reopen the session',
    about: 'Messages can be posted here again. For new work, resume it in a new session instead.',
    submit: 'Reopen',
    operation: reopenSession,
    fields: ReopenFields,
    input: ({ reason }, session_id) => ({ session_id, reason }),
  },
  release: {
    title: 'Clear the loop warning',
    about:
      'The teams have been repeating themselves, so the session is flagged. Tell them in the feed what you expect, or clear the warning if this is intended.',
    submit: 'Clear the warning',
    operation: releaseSession,
    fields: () => <></>,
    input: (_, session_id) => ({ session_id }),
  },
  convener: {
    title: 'Name the convener',
    about: 'The convener is responsible for the conclusion. All teams are told in the feed.',
    submit: 'Name convener',
    operation: transferConvener,
    fields: ConvenerFields,
    teams: async ({ services }, sessionId) => {
      const [teams, session] = await Promise.all([roster(services.database, sessionId), sessionById(services.database, sessionId)])
      return teams
        .filter(({ leftAt }) => leftAt === null)
        .map(({ teamId, teamName, hue }) => ({ id: teamId, name: teamName, hue, convener: teamId === session?.convenerTeamId }))
    },
    input: ({ to }, session_id) => ({ session_id, to }),
  },
} satisfies Record<string, Act>

export type ActName = keyof typeof ACTS

/** GET: the form. For the dialog of a page alone when htmx asks. */
export const showAct = (name: ActName) => async (c: Http, site: Site) => {
  // What is not a form belongs on its own page, not in the dialog.
  if (c.req.header('hx-request') && !actorOf(c, site.services)) return c.body(null, 200, { 'hx-redirect': c.req.path })
  if (!personOf(c, site.services)) return toSignIn(c, site)
  assertActor(c, site)
  const { begin, teams }: Act = ACTS[name]
  const id = c.req.param('id')
  const session = id === undefined ? undefined : await existingSession(site.services.database, id)
  const values = session ? ((await begin?.(site, session)) ?? {}) : { expected_teams: '2' }
  return shown(c, site, name, values, session && (await teams?.(site, session.id)))
}

/** POST: does it. What is refused comes back as the form, with what was typed. A dialog gets nothing when it was done, and so closes,
 *  unless it leads on to another page. */
export const doAct = (name: ActName) => async (c: Http, site: Site) => {
  const { operation, input, teams, leadsTo }: Act = ACTS[name]
  const id = c.req.param('id')
  const values = valuesOf(await formOf(c, LARGE_FORM))
  const outcome = await act(c, site, operation, values.key, input(values, id))
  if (outcome.ok && c.req.header('hx-request')) return c.body('', 200, leadsTo && { 'hx-redirect': leadsTo(outcome.data) })
  if (outcome.ok) return seeOther(c, leadsTo?.(outcome.data) ?? `/sessions/${id}`)
  const known = id !== undefined && isUuid(id) && actorOf(c, site.services) !== undefined // a stranger is told nothing about the session
  return shown(c, site, name, values, known ? await teams?.(site, id) : undefined, outcome.error)
}

/** POST: what a conclusion will look like. */
export const previewConclusion = async (c: Http, site: Site) => {
  assertActor(c, site)
  const values = valuesOf(await formOf(c, LARGE_FORM))
  await prepareMarkdown(values.summary_section ?? '')
  if (c.req.header('hx-request')) return fragment(c, <ConclusionPreview text={values.summary_section ?? ''} />)
  return shown(c, site, 'conclude', values)
}

const shown = (c: Http, site: Site, name: ActName, values: Values, teams?: Teams, error?: ErrorBody) => {
  const { title, about, submit, fields: Fields }: Act = ACTS[name]
  const id = c.req.param('id')
  const at = id === undefined ? '' : `/sessions/${id}`
  const problem = error && problemOf(error, Object.keys(values))
  const view: ActView = {
    title,
    about,
    submit,
    action: `${at || '/sessions'}/${name}`,
    back: at || '/',
    idempotencyKey: nextKey(values.key, error),
    problem,
    fields: <Fields {...{ values, problem, at, teams }} />,
  }
  if (c.req.header('hx-request')) return fragment(c, <ActDialog act={view} />, error && STATUS[error.code])
  const frame = { ...frameOf(c, site), path: at || '/' }
  const crumb = id === undefined ? undefined : { label: id.slice(0, 8), href: at }
  return page(c, <ActPage {...{ frame, crumb }} act={view} />, error && STATUS[error.code])
}
