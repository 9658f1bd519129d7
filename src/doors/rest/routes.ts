// REST: a route per operation. GET reads, POST writes; bodies are parsed as JSON whatever their content type.
import { Hono } from 'hono'
import { etag, RETAINED_304_HEADERS } from 'hono/etag'
import { refuse, Refusal } from '../../core/errors.ts'
import { isObject } from '../../core/text/json.ts'
import type { Call } from '../../operations/call.ts'
import type { ServedOp, Outcome } from '../../operations/context.ts'
import { perform } from '../../operations/perform.ts'
import type { Services } from '../../process/services.ts'
import { callOf, observeWake, refusalOf } from '../http/calls.ts'
import { whileAwaited } from '../http/event-stream.ts'
import { bodyText, errorAnswer, json, methodNotAllowed, parseJson, type Env, type Http } from '../http/http.ts'
import { refuseTeamInQuery } from '../http/query.ts'
import { inputSchema } from '../http/json-schema.ts'
import { hasMarkdownBody, markdownAnswer, markdownInput } from './markdown.ts'

const BODY_LIMIT = 1024 * 1024
const KEEP_ALIVE_MS = 15_000

/** The routes of these operations. Every other method on one of their paths answers 405 and names the methods that there are. */
export const restRoutes = (operations: readonly ServedOp[], services: Services) => {
  const app = new Hono<Env>()
  const byPath = Map.groupBy(operations.flatMap(routesOf), ({ path }) => path)
  // The first path that matches answers, so /sessions/wait goes before /sessions/:session_id.
  const inOrder = [...byPath].toSorted(([a], [b]) => parametersIn(a) - parametersIn(b))
  for (const [path, routes] of inOrder) {
    for (const { method, operation } of routes) {
      app.on(method, path, handlerFor(operation, services))
    }
    app.all(path, () => methodNotAllowed(routes.map(({ method }) => method)))
  }
  return app
}

const asksForStream = (c: Http): boolean => c.req.header('accept')?.includes('text/event-stream') ?? false

const routesOf = (operation: ServedOp) =>
  [operation.route, ...(operation.aliases ?? [])].map(([method, path]) => ({ method, path, operation }))

const parametersIn = (path: string) => path.split(':').length

const handlerFor = (operation: ServedOp, services: Services) => {
  const typed = queryTyper(operation)
  return async (c: Http): Promise<Response> => {
    const call = callOf(c, services)
    let input: object
    try {
      input = await inputOf(c, operation, typed)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      if (call.token === undefined) call.refuseTokenless?.() // nothing is said of the body
      return response(operation, { ok: false, error: error.body }, {}, call)
    }
    if (operation.held && asksForStream(c)) return streamed(operation, services, call, input)
    const outcome = await perform(operation, services, call, input)
    const answer = markdownAnswer(c, operation, outcome) ?? response(operation, outcome, input, call)
    observeWake(services, call)
    return operation.conditional ? withEtag(c, operation, answer) : answer
  }
}

// Once the answer is there, not as middleware around it: that would keep half a KiB and more for each that is held (bench/connections).
const withEtag = async (c: Http, operation: ServedOp, answer: Response): Promise<Response> => {
  c.res = answer
  await etag({ retainedHeaders: retainedBy(operation) })(c, async () => {})
  return c.res
}

// What an answer's headers say beside its text may change while the text does not: a client that keeps the text must know.
const retainedBy = ({ markdown }: ServedOp) => [...RETAINED_304_HEADERS, ...Object.keys(markdown?.headers ?? {})]

// A refusal that comes at once is JSON; an answer that is held back is an event stream.
const streamed = async (operation: ServedOp, services: Services, call: Call, input: object) => {
  const holding = Promise.withResolvers<'held'>()
  const onHeld = () => {
    call.onHeld?.()
    holding.resolve('held')
  }
  const pending = Promise.resolve(perform(operation, services, { ...call, onHeld }, input))
  const first = await Promise.race([pending, holding.promise])
  if (first !== 'held' && !first.ok) return response(operation, first, input, call)
  const answer = pending.then((outcome) => {
    const event = asEvent(outcome)
    observeWake(services, call)
    return event
  })
  return whileAwaited(answer, () => ': still waiting\n\n', KEEP_ALIVE_MS)
}

const response = (operation: ServedOp, outcome: Outcome, input: object, call: Call) =>
  outcome.ok
    ? json(outcome.data, 200, outcome.replayed ? { 'idempotency-replayed': 'true' } : {})
    : errorAnswer(outcome.error, {}, refusalOf(operation, outcome, input, call))

// The answer, or the error, as one server-sent event.
const asEvent = (outcome: Outcome) => {
  const [event, data] = outcome.ok ? ['message', outcome.data] : ['error', { error: outcome.error }]
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
}

// The arguments of a call: its path, its query, and its body.
const inputOf = async (c: Http, operation: ServedOp, typed: Typer): Promise<object> => {
  const path = c.req.param()
  const query = typed(c.req.queries())
  if ('team_id' in query) refuseTeamInQuery()
  if (c.req.method === 'GET' || c.req.method === 'HEAD') return Object.assign(query, path)
  const body = await bodyOf(c, operation)
  for (const [name, value] of Object.entries(path)) {
    if (name in body && (body as Record<string, unknown>)[name] !== value)
      refuse('invalid_request', `${name} in the body does not match the URL.`, { field: name })
  }
  return { ...query, ...body, ...path }
}

/** Refuses a form: its own lines would be taken for part of the body. */
export const refuseForm = (c: Http) => {
  if (c.req.header('content-type')?.startsWith('multipart/'))
    refuse('invalid_request', 'Send the body itself, not a form: curl --data-binary @FILE, or -d, in place of -F.', {
      field: 'content-type',
    })
}

const bodyOf = async (c: Http, operation: ServedOp): Promise<object> => {
  refuseForm(c)
  const { bodyLimit = BODY_LIMIT } = operation
  if (hasMarkdownBody(c, operation)) return markdownInput(c, operation, bodyLimit)
  const text = await bodyText(c.req.raw, bodyLimit)
  if (text.trim() === '') return {}
  if (operation.textBody && !text.trimStart().startsWith('{') && !c.req.header('content-type')?.includes('json'))
    return { [operation.textBody]: text }
  const body = parseJson(text)
  return isObject(body) ? body : refuse('invalid_request', 'The body must be a JSON object, with the arguments by their names.')
}

type Typer = (query: Record<string, string[]>) => object

// A query has no types: converts each value to the type in the operation's schema, which then validates it.
const queryTyper = ({ input }: ServedOp): Typer => {
  const { properties } = inputSchema(input)
  return (query) => {
    const values: Record<string, unknown> = Object.create(null) // so that __proto__ is an unknown name like any other
    for (const name in query) values[name] = typedAs(properties[name]?.type, query[name]!)
    return values
  }
}

// Converts the one canonical spelling of a number or boolean. Anything else stays a text or list, which the schema refuses.
const typedAs = (type: string | undefined, texts: string[]): unknown => {
  if (type === 'array') return texts
  const [text = '', ...more] = texts
  if (more.length > 0) return texts
  if ((type === 'integer' || type === 'number') && String(Number(text)) === text) return Number(text)
  return type === 'boolean' && (text === 'true' || text === 'false') ? text === 'true' : text
}
