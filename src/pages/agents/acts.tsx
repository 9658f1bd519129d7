// What a signed-in person does to an agent: prompts it, interrupts it, and answers what it asks permission for.
import { CHOICES, HowItGoesOn, PromptBox, PromptChoices, PromptPage, SUMMARY } from '../../../components/agents/prompt-box.tsx'
import { renderToStaticMarkup } from 'react-dom/server'
import { answerPermission } from '../../control/permissions/answer.ts'
import { interruptSession } from '../../control/tasks/interrupt-session.ts'
import { sendPrompt } from '../../control/tasks/send-prompt.ts'
import { refuse, STATUS, type ErrorBody } from '../../core/errors.ts'
import type { Http } from '../../doors/http/http.ts'
import { wholeNumber } from '../../doors/http/query.ts'
import type { AnyOp } from '../../operations/context.ts'
import { existingSession } from '../../rooms/preconditions.ts'
import { taskAt } from '../../stores/control/tasks.ts'
import { watchedAgents } from '../../stores/control/watched.ts'
import { assertActor, nextIdempotencyKey, performAsPerson, problemOf } from '../forms/perform-as-person.ts'
import { formOf, LARGE_FORM, valuesOf, type Values } from '../forms/fields.ts'
import { pageOfForm } from '../approvals/came-from.ts'
import { partial } from '../live/partial.ts'
import { fragment, frameOf, htmlResponse, leadTo, page, seeOther, type Site } from '../respond.tsx'
import { promptBoxOf } from './prompt-box.ts'

/** GET /sessions/:id/prompt: the form with all its choices as a page; with `?part`, the choices alone, for the fold of the session's page. */
export const promptForm = async (c: Http, site: Site): Promise<Response> => {
  assertActor(c, site)
  const box = { ...(await boxOf(site, c.req.param('id')!, crypto.randomUUID())), whole: true }
  if (c.req.query('part') === undefined) return page(c, <PromptPage frame={frameOf(c, site)} box={box} />)
  const choices = partial(`#${CHOICES}`, 'outerHTML', renderToStaticMarkup(<PromptChoices {...box} />))
  return htmlResponse(c, choices + partial(`#${SUMMARY}`, 'innerHTML', renderToStaticMarkup(<HowItGoesOn />)))
}

/** POST /sessions/:id/prompt: `prompt`, `mode`, and for a fork or subsession `title`, `branch`, `agentic_tool`, `permission_mode`. htmx
 *  gets a new, empty form, or the same form with the problem; a new session is gone to. */
export const submitPrompt = async (c: Http, site: Site): Promise<Response> => {
  assertActor(c, site)
  const sessionId = c.req.param('id')!
  const values = valuesOf(await formOf(c, LARGE_FORM))
  const outcome = await performAsPerson(c, site, sendPrompt, values.key, promptInput(sessionId, values))
  const error = outcome.ok ? undefined : outcome.error
  const elsewhere = outcome.ok && outcome.data.session_id !== sessionId ? `/sessions/${String(outcome.data.session_id)}` : undefined
  if (c.req.header('hx-request')) {
    if (elsewhere) return leadTo(c, elsewhere)
    const box = await boxAfter(site, sessionId, values, error)
    return fragment(c, <PromptBox {...box} />, error && STATUS[error.code])
  }
  if (outcome.ok) return seeOther(c, elsewhere ?? `/sessions/${sessionId}#m${String(outcome.data.start_sequence)}`)
  const frame = { ...frameOf(c, site), path: `/sessions/${sessionId}` }
  return page(c, <PromptPage frame={frame} box={await boxAfter(site, sessionId, values, error)} />, STATUS[outcome.error.code])
}

const promptInput = (session_id: string, { prompt = '', mode = 'continue', title, branch, agentic_tool, permission_mode }: Values) => {
  if (mode === 'continue') return { session_id, prompt }
  const said = Object.entries({ title, branch, agentic_tool, permission_mode }).filter(([, value]) => value) // an empty field says: as here
  return { session_id, prompt, mode, ...Object.fromEntries(said) }
}

const boxOf = async ({ services }: Site, sessionId: string, idempotencyKey: string) => {
  const { id } = await existingSession(services.database, sessionId)
  const [agent] = await watchedAgents(services.database, [id])
  return agent ? promptBoxOf(agent, idempotencyKey) : refuse('conflict', 'This session has no agent. Write to its teams instead.')
}

const boxAfter = async (site: Site, sessionId: string, values: Values, error: ErrorBody | undefined) => ({
  ...(await boxOf(site, sessionId, nextIdempotencyKey(values.key, error))),
  again: true,
  ...(error && { values, problem: problemOf(error) }),
})

/** POST /sessions/:id/interrupt: `task`, the sequence of the prompt that is to be stopped. */
export const submitInterrupt = async (c: Http, site: Site): Promise<Response> => {
  assertActor(c, site)
  const session_id = c.req.param('id')!
  const { task } = valuesOf(await formOf(c))
  if (task !== undefined) await refuseUnlessRunning(site, session_id, wholeNumber('task', task))
  return act(c, site, interruptSession, { session_id })
}

// Since the page showed its button the task may have ended: what runs by now is another one, which nobody meant to stop.
const refuseUnlessRunning = async ({ services: { database } }: Site, sessionId: string, sequence: number): Promise<void> => {
  const { id } = await existingSession(database, sessionId)
  const task = await taskAt(database, id, sequence)
  if (task?.status !== 'running') refuse('conflict', 'This task does not run any more, so nothing was interrupted.')
}

/** POST /sessions/:id/permission: `request_id`, `allow` (`true` or `false`), `message`. */
export const submitPermission = async (c: Http, site: Site): Promise<Response> => {
  assertActor(c, site)
  const { request_id, allow, message } = valuesOf(await formOf(c))
  const input = { session_id: c.req.param('id'), request_id, allow: allow === 'true', ...(message && { message }) }
  return act(c, site, answerPermission, input, pageOfForm(c))
}

// What comes of it is seen on the page, which follows the session.
const act = async (c: Http, site: Site, operation: AnyOp, input: object, back?: string): Promise<Response> => {
  const outcome = await performAsPerson(c, site, operation, undefined, input)
  if (!outcome.ok) return refuse(outcome.error.code, outcome.error.message, outcome.error.details)
  if (c.req.header('hx-request')) return c.body('', 200)
  return seeOther(c, back ?? `/sessions/${c.req.param('id')}`)
}
