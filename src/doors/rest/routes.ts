// REST: a route for each operation. Reading is GET, writing is POST; bodies are JSON whatever their content type says.
import { Hono } from 'hono'
import { refuse, Refusal } from '../../core/errors.ts'
import type { ServedOp, Call, Outcome } from '../../operations/context.ts'
import { perform } from '../../operations/perform.ts'
import type { Services } from '../../process/services.ts'
import { actorOf } from '../http/cookies.ts'
import { whileAwaited } from '../http/event-stream.ts'
import { mayRead } from '../http/guards.ts'
import { bodyText, errorAnswer, json, parseJson, type Env, type Http } from '../http/http.ts'
import { baseUrl } from '../http/origin.ts'
import { inputSchema } from './json-schema.ts'

const BODY_LIMIT = 1024 * 1024
const KEEP_ALIVE_MS = 15_000
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** The routes of these operations. Whatever method else is used on one of their paths is told which there are. */
export const restRoutes = (operations: readonly ServedOp[], services: Services) => {
  const app = new Hono<Env>()
  const byPath = Map.groupBy(operations.flatMap(routesOf), ({ path }) => path)
  const paths = [...byPath.keys()].toSorted((a, b) => paramsOf(a) - paramsOf(b))
  for (const path of paths) {
    const pattern = paths.find((other) => other !== path && fits(other, path))
    const on = (methods: string[], answer: Answering) =>
      pattern ? app.on(methods, pattern, (c, next) => (c.req.path.endsWith(path) ? answer(c) : next())) : app.on(methods, path, answer)
    const here = byPath.get(path)!
    for (const route of here) on([route.method], answering(route, services, pattern === undefined))
    const allowed = here.map(({ method }) => method)
    on(
      METHODS.filter((method) => !allowed.includes(method)),
      () => methodNotAllowed(allowed),
    )
  }
  return app
}

type Answering = (c: Http) => Response | Promise<Response>

interface RestRoute {
  method: string
  path: string
  operation: ServedOp
  typed: Typer
}

const routesOf = (operation: ServedOp): RestRoute[] => {
  const typed = queryTyper(operation)
  return [operation.route, ...(operation.aliases ?? [])].map(([method, path]) => ({ method, path, operation, typed }))
}

// `named`: the route's parameters are this path's own.
const answering =
  ({ operation, typed }: RestRoute, services: Services, named: boolean): Answering =>
  (c) => {
    const input = rawInput(c, operation, typed, named ? c.req.param() : {})
    if (!(input instanceof Promise)) return answer(c, operation, services, input)
    return input.then((read) => answer(c, operation, services, read)).catch((error) => unreadable(error, operation))
  }

const paramsOf = (path: string) => path.split(':').length

// /sessions/wait is not a session called "wait". They are told apart here: with both in it, Hono's fast router would give way to the
// slow one, for all routes (bench/mcp).
const fits = (pattern: string, path: string) => {
  const segments = path.split('/')
  const wanted = pattern.split('/')
  return wanted.length === segments.length && wanted.every((segment, i) => segment === segments[i] || segment.startsWith(':'))
}

export const methodNotAllowed = (allowed: string[]) => {
  const allow = allowed.includes('GET') ? [...allowed, 'HEAD'] : allowed
  return errorAnswer(
    { code: 'method_not_allowed', message: `Use ${allowed.join(' or ')} here.`, details: { allow } },
    { allow: allow.join(', ') },
  )
}

/** The caller as the request's headers and cookie show it. To HEAD, which has no body, nothing is handed out: its caller counts as gone. */
export const callOf = (c: Http, services: Services): Call => ({
  token: c.req.header('x-team-id'),
  person: () => actorOf(c, services),
  reader: () => mayRead(c, services),
  base: () => baseUrl(c, services),
  key: () => c.req.header('idempotency-key'),
  signal: () => (isHead(c) ? AbortSignal.abort() : c.req.raw.signal),
  began: isHead(c) ? 0 : performance.now(), // long ago, so that its signal is looked at
  held: c.env?.untimed,
})

const isHead = (c: Http) => c.req.method === 'HEAD'

const answer = (c: Http, operation: ServedOp, services: Services, input: object): Response | Promise<Response> => {
  const call = callOf(c, services)
  if (operation.held && c.req.header('accept')?.includes('text/event-stream')) return streamed(operation, services, call, input)
  const pending = perform(operation, services, call, input)
  if (!(pending instanceof Promise)) return format(pending, refusalOf(operation, pending, input, call))
  // A wait keeps whatever is named here for as long as it is held.
  return operation.refusal ? pending.then((outcome) => format(outcome, refusalOf(operation, outcome, input, call))) : pending.then(plain)
}

// Refused at once as JSON; what is held, as an event stream.
const streamed = async (operation: ServedOp, services: Services, call: Call, input: object) => {
  const held = Promise.withResolvers<'held'>()
  const told = () => {
    call.held?.()
    held.resolve('held')
  }
  const pending = Promise.resolve(perform(operation, services, { ...call, held: told }, input))
  const first = await Promise.race([pending, held.promise])
  return first !== 'held' && !first.ok ? format(first) : whileAwaited(pending.then(asEvent), () => ': still waiting\n\n', KEEP_ALIVE_MS)
}

const format = (outcome: Outcome, refusal?: object) =>
  outcome.ok
    ? json(outcome.data, 200, outcome.replayed ? { 'idempotency-replayed': 'true' } : undefined)
    : errorAnswer(outcome.error, {}, refusal)

const plain = (outcome: Outcome) => format(outcome)

/** An error in the operation's own shape, if it has one. */
export const refusalOf = ({ refusal }: ServedOp, outcome: Outcome, raw: unknown, { began = 0 }: Call) =>
  outcome.ok ? undefined : refusal?.(outcome.error, raw, performance.now() - began)

const unreadable = (error: unknown, { refusal }: ServedOp) => {
  if (!refusal || !(error instanceof Refusal)) throw error
  return errorAnswer(error.body, {}, refusal(error.body, {}, 0))
}

// The same object as one event.
const asEvent = (outcome: Outcome) => {
  const [event, data] = outcome.ok ? ['message', outcome.data] : ['error', { error: outcome.error }]
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
}

// A promise only where there is a body to read.
const rawInput = (c: Http, operation: ServedOp, typed: Typer, path: Record<string, string>): object | Promise<object> => {
  const query = typed(c.req.queries())
  if ('team_id' in query)
    refuse('invalid_request', 'A team_id in the URL would end up in logs. Send it in the X-Team-ID header.', { field: 'team_id' })
  if (c.req.method === 'GET' || c.req.method === 'HEAD') return Object.assign(query, path)
  return bodyOf(c, operation).then((body) => combined(query, body, path))
}

const combined = (query: object, body: object, path: Record<string, string>) => {
  for (const [name, value] of Object.entries(path)) {
    if (name in body && (body as Record<string, unknown>)[name] !== value)
      refuse('invalid_request', `${name} in the body does not match the URL.`, { field: name })
  }
  return { ...query, ...body, ...path }
}

/** A form holds what is sent among lines of its own, which would be taken for it. */
export const refuseForm = (c: Http) => {
  if (c.req.header('content-type')?.startsWith('multipart/'))
    refuse('invalid_request', 'Send the body itself, not a form: curl --data-binary @FILE, or -d, in place of -F.', {
      field: 'content-type',
    })
}

const bodyOf = async (c: Http, operation: ServedOp): Promise<object> => {
  refuseForm(c)
  const text = await bodyText(c.req.raw, operation.bodyLimit ?? BODY_LIMIT)
  if (text.trim() === '') return {}
  if (operation.textBody && !text.trimStart().startsWith('{') && !c.req.header('content-type')?.includes('json'))
    return { [operation.textBody]: text }
  const body = parseJson(text)
  return typeof body === 'object' && body !== null && !Array.isArray(body)
    ? body
    : refuse('invalid_request', 'The body must be a JSON object.')
}

type Typer = (query: Record<string, string[]>) => object

// A query carries no types: each value gets the one its schema asks for, and the schema still has the last word.
const queryTyper = ({ input }: ServedOp): Typer => {
  const { properties } = inputSchema(input)
  return (query) => {
    const values: Record<string, unknown> = Object.create(null) // __proto__ is a name like others, and unknown
    for (const name in query) values[name] = typedAs(properties[name]?.type, query[name]!)
    return values
  }
}

// One value of a number or boolean, in its only spelling; whatever else it is, the schema refuses as text or as a list.
const typedAs = (type: string | undefined, texts: string[]): unknown => {
  if (type === 'array') return texts
  const [text = '', ...more] = texts
  if (more.length > 0) return texts
  if ((type === 'integer' || type === 'number') && String(Number(text)) === text) return Number(text)
  return type === 'boolean' && (text === 'true' || text === 'false') ? text === 'true' : text
}
