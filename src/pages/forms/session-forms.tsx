// What a signed-in person can do to sessions, each with a form: GET shows the form (a page, or the content of a dialog), POST applies it.
import type { ReactElement } from 'react'
import {
  ConclusionFields,
  ConclusionPreview,
  ConvenerFields,
  MetadataFields,
  ReopenFields,
  SessionFields,
  type FieldsProps,
} from '../../../components/forms/act-fields.tsx'
import { LimitsFields } from '../../../components/agents/agent-fields.tsx'
import { manageSession } from '../../control/sessions/manage-session.ts'
import { updateSession } from '../../control/sessions/update-session.ts'
import { agentOf } from '../../stores/control/agents.ts'
import type { AnyOp } from '../../operations/context.ts'
import { isUuid } from '../../core/ids.ts'
import { prepareMarkdown } from '../../markdown/render.ts'
import { conclusionOf } from '../../rooms/document/conclusion.ts'
import { transferConvener } from '../../rooms/convener.ts'
import { releaseSession } from '../../rooms/loops.ts'
import { startSession } from '../../rooms/create-session.ts'
import { existingSession } from '../../rooms/preconditions.ts'
import { concludeSession, reopenSession, updateSessionMetadata } from '../../rooms/session-lifecycle.ts'
import { readDocument } from '../../stores/documents.ts'
import { roster } from '../../stores/members.ts'
import { sessionById, type Session } from '../../stores/sessions.ts'
import { actorOf } from '../../doors/http/cookies.ts'
import type { Http } from '../../doors/http/http.ts'
import { answerForm, formAgain, formFor, type ShownForm } from './act-pages.tsx'
import { assertActor, performAsPerson, problemOf } from './perform-as-person.ts'
import { fragment, type Site } from '../respond.tsx'
import { beginning, changed, formOf, LARGE_FORM, valuesOf, type Values } from './fields.ts'

type Teams = FieldsProps['teams']

interface SessionForm {
  title: string
  about: string
  submit: string
  operation: AnyOp
  fields: (props: FieldsProps) => ReactElement
  /** The values that the form begins with, from the session. */
  initial?: (site: Site, session: Session) => Values | Promise<Values>
  teams?: (site: Site, sessionId: string) => Promise<Teams>
  input: (values: Values, sessionId: string | undefined) => object
  /** The page to go to afterwards; the session's page unless it is given. */
  leadsTo?: (answer: Record<string, unknown>) => string
}

const newSession = ({ title, description, expected_teams }: Values) => ({ title, description, expected_teams: Number(expected_teams) })
const invite = ({ session_id }: Record<string, unknown>) => `/connect?session=${String(session_id)}`

// A form in which nothing was changed sends all its fields, and the operation says so.
const changedOrAll = (fields: Values, was: string | undefined): Values => {
  const given = changed(fields, was)
  return Object.keys(given).length === 0 ? fields : given
}

const FORMS = {
  new: {
    title: 'New session',
    about: 'Say what it is for. Next you get the line to paste to your agents; the first one that joins is to conclude it.',
    submit: 'Open the session',
    operation: startSession,
    fields: SessionFields,
    input: newSession,
    leadsTo: invite,
  },
  resume: {
    title: 'Resume in a new session',
    about: 'The new session continues this one: its document opens with the conclusion and a link back.',
    submit: 'Open the session',
    operation: startSession,
    fields: SessionFields,
    initial: (_, { title, description, expectedTeams }) => ({ title, description, expected_teams: String(expectedTeams) }),
    input: (values, sessionId) => ({ ...newSession(values), resume_from: sessionId }),
    leadsTo: invite,
  },
  edit: {
    title: 'Change title or description',
    about: 'Use this when the scope or goal has changed. The feed shows the old and the new text.',
    submit: 'Change',
    operation: updateSessionMetadata,
    fields: MetadataFields,
    initial: (_, { title, description }) => beginning({ title, description }),
    input: ({ title = '', description = '', reason, was }, session_id) => ({
      session_id,
      ...changedOrAll({ title, description }, was),
      reason,
    }),
  },
  conclude: {
    title: 'Conclude the session',
    about: 'No more messages can be posted; everything stays readable. Concluding again revises the text.',
    submit: 'Conclude',
    operation: concludeSession,
    fields: ConclusionFields,
    initial: async ({ services }, { id }) => ({ summary_section: conclusionOf((await readDocument(services.database, id)).content) ?? '' }),
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
    title: 'Clear the warning',
    about:
      'The teams have been repeating themselves, or messages have woken them as often as one hour allows, so the session is flagged. Tell them in the feed what you expect, or clear the warning if this is intended: what was said so far no longer counts, and messages wake teams again.',
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
  limits: {
    title: 'What the agent may',
    about: 'Permissions hold from its next task on; the limit at once.',
    submit: 'Change',
    operation: updateSession,
    fields: LimitsFields,
    initial: async ({ services }, { id, permissionMode }) =>
      beginning({ permission_mode: permissionMode ?? '', max_usd: String((await agentOf(services.database, id))?.maxUsd ?? '') }),
    input: ({ permission_mode = '', max_usd = '', was }, session_id) => {
      const { max_usd: limit, ...mode } = changedOrAll({ permission_mode, ...(max_usd && { max_usd }) }, was)
      return { session_id, ...mode, ...(limit && { max_usd: Number(limit) }) }
    },
  },
  stop: {
    title: 'Stop the agent',
    about: 'What it does now is interrupted, and prompts wait until it is started again.',
    submit: 'Stop it',
    operation: manageSession,
    fields: () => <></>,
    input: (_, session_id) => ({ session_id, action: 'stop' }),
  },
  start: {
    title: 'Start the agent again',
    about: 'It goes on with the prompts that wait. An archived session comes back.',
    submit: 'Start it',
    operation: manageSession,
    fields: () => <></>,
    input: (_, session_id) => ({ session_id, action: 'start' }),
  },
  archive: {
    title: 'Archive the session',
    about:
      'What runs is interrupted, what is queued ends, and the session takes no more writes. It stays readable, and its menu brings it back.',
    submit: 'Archive',
    operation: manageSession,
    fields: () => <></>,
    input: (_, session_id) => ({ session_id, action: 'delete' }),
  },
  restore: {
    title: 'Bring the session back',
    about: 'It takes messages again, unless it is concluded. Its teams are told.',
    submit: 'Bring it back',
    operation: manageSession,
    fields: () => <></>,
    input: (_, session_id) => ({ session_id, action: 'start' }),
  },
} satisfies Record<string, SessionForm>

export type FormName = keyof typeof FORMS

/** GET: the form, as a page; for htmx as the content of a dialog. */
export const showForm = (name: FormName) => (c: Http, site: Site) =>
  formFor(c, site, async () => {
    const { initial, teams }: SessionForm = FORMS[name]
    const id = c.req.param('id')
    const session = id === undefined ? undefined : await existingSession(site.services.database, id)
    const values = session ? ((await initial?.(site, session)) ?? {}) : { expected_teams: '2' }
    return formNamed(c, name, values, session && (await teams?.(site, session.id)))
  })

/** POST: calls the operation. After a refusal the form comes back, with the text that was typed, also to somebody who is signed in no more. */
export const submitForm = (name: FormName) => async (c: Http, site: Site) => {
  const { operation, input, teams, leadsTo }: SessionForm = FORMS[name]
  const id = c.req.param('id')
  const values = valuesOf(await formOf(c, LARGE_FORM))
  const outcome = await performAsPerson(c, site, operation, values.key, input(values, id))
  const elsewhere = outcome.ok ? leadsTo?.(outcome.data) : undefined
  const known = id !== undefined && isUuid(id) && actorOf(c, site.services) !== undefined // nobody else learns anything about the session
  return answerForm(c, site, outcome, {
    idempotencyKey: values.key,
    problem: (error) => problemOf(error, Object.keys(values)),
    leadsTo: elsewhere ?? `/sessions/${id}`,
    dialogLeadsTo: elsewhere,
    form: async () => formNamed(c, name, values, known ? await teams?.(site, id) : undefined),
  })
}

/** POST: a preview of the conclusion. */
export const previewConclusion = async (c: Http, site: Site) => {
  assertActor(c, site)
  const values = valuesOf(await formOf(c, LARGE_FORM))
  await prepareMarkdown(values.summary_section ?? '')
  if (c.req.header('hx-request')) return fragment(c, <ConclusionPreview text={values.summary_section ?? ''} />)
  return formAgain(c, site, formNamed(c, 'conclude', values))
}

const formNamed = (c: Http, name: FormName, values: Values, teams?: Teams): ShownForm => {
  const { title, about, submit, fields: Fields }: SessionForm = FORMS[name]
  const session = c.req.param('id')
  const at = session === undefined ? '' : `/sessions/${session}`
  return {
    session,
    title,
    about,
    submit,
    action: `${at || '/sessions'}/${name}`,
    back: at || '/',
    values,
    fields: (problem) => <Fields {...{ values, problem, at, teams }} />,
  }
}
