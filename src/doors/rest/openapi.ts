// The OpenAPI document, made from the operations' definitions; routes that are no operations stand in openapi-routes.ts.
import { ALWAYS, type ErrorCode } from '../../core/errors.ts'
import type { ServedOp } from '../../operations/context.ts'
import { isOpen } from '../../operations/operation.ts'
import { namesOf, type Toolset } from '../../operations/toolset.ts'
import {
  asJson,
  CREDENTIAL,
  OTHERWISE,
  refTo,
  refusals,
  REPLAYED,
  SCHEMAS,
  SECURITY_SCHEMES,
  SESSION_ID,
  type Described,
} from './openapi-parts.ts'
import { ROUTES } from './openapi-routes.ts'
import { inputSchema, outputSchema, type JsonSchema } from '../http/json-schema.ts'
import manifest from '../../../package.json' with { type: 'json' }

/** The OpenAPI 3.1 description of all operations, from their own definitions, without `servers`. */
export const openapi = (toolsets: readonly Toolset[], locked: boolean) => {
  const paths: Record<string, Record<string, Described>> = { ...ROUTES }
  for (const [name, operation] of namesOf(toolsets)) {
    for (const [method, path] of [operation.route, ...(operation.aliases ?? [])]) {
      const key = `/api${path.replace(/:(\w+)/g, '{$1}')}`
      paths[key] = { ...paths[key], [method.toLowerCase()]: entry(operation, name, method, path) }
    }
  }
  const described = locked ? mapped(paths, (methods) => mapped(methods, behindToken)) : paths
  return {
    openapi: '3.1.0',
    info: { title: 'Parley', version: manifest.version, description: manifest.description },
    paths: described,
    components: { schemas: SCHEMAS, securitySchemes: SECURITY_SCHEMES },
  }
}

// Adds the access token to every alternative but person, key and invite, each of which opens REST by itself.
const behindToken = ({ security, ...rest }: Described): Described => ({
  ...rest,
  security: security.map((scheme) =>
    'person' in scheme || 'key' in scheme || 'invite' in scheme ? scheme : { ...scheme, accessToken: [] },
  ),
})

const mapped = <Value, Made>(object: Record<string, Value>, make: (value: Value) => Made): Record<string, Made> =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, make(value)]))

const entry = (operation: ServedOp, operationName: string, method: string, path: string) => {
  const { properties, required = [] } = inputSchema(operation.input)
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!)
  const rest = Object.entries(properties).filter(
    ([name]) => !inPath.includes(name) && !(name === 'team_id' && !takesTeam(operation, method)),
  )
  const parameters: object[] = inPath.map((name) => (name === 'session_id' ? SESSION_ID : inUrl('path', name, properties[name]!, true)))
  if ('team_id' in properties && !operation.peopleOnly) parameters.push(CREDENTIAL)
  if (operation.effect !== 'read') parameters.push(idempotencyHeader(properties))
  if (operation.conditional) parameters.push({ in: 'header', name: 'If-None-Match', schema: { type: 'string' } })
  if (method === 'GET') parameters.push(...rest.map(([name, schema]) => inUrl('query', name, schema, required.includes(name))))
  else if (operation.markdownBody) parameters.push(...besideMarkdown(operation, rest))
  return {
    operationId: method === operation.route[0] ? operationName : `${operationName}_${method.toLowerCase()}`,
    tags: [operation.toolset],
    summary: operation.summary,
    security: securityOf(operation),
    parameters,
    ...(method !== 'GET' && { requestBody: bodyOf(operation, rest, inPath, required) }),
    responses: {
      200: answerOf(operation),
      ...(operation.conditional && { 304: { description: 'nothing has changed since the ETag in If-None-Match' } }),
      ...refusals(codesOf(operation, method), refTo(operation.refusal ? 'HistoryError' : 'Error')),
      ...(operation.refusal && {
        401: { description: 'unauthorized', content: asJson({ anyOf: [refTo('HistoryError'), refTo('Error')] }) },
      }),
      ...OTHERWISE,
    },
  }
}

// May the body carry team_id? Not a URL, which ends up in logs, nor a call that only people may make.
const takesTeam = ({ peopleOnly }: ServedOp, method: string) => method !== 'GET' && !peopleOnly

// A body of markdown is one argument: the others stand in the query.
const besideMarkdown = ({ markdownBody, carried }: ServedOp, fields: [string, JsonSchema['properties'][string]][]) =>
  fields
    .filter(([name]) => name !== markdownBody && !carried.includes(name))
    .map(([name, schema]) =>
      inUrl('query', name, { ...schema, description: `Beside a body of markdown. ${schema.description ?? ''}` }, false),
    )

const inUrl = (place: 'path' | 'query', name: string, { description, ...schema }: JsonSchema['properties'][string], required: boolean) => ({
  in: place,
  name,
  required,
  ...(description && { description }),
  schema,
})

const idempotencyHeader = ({ idempotency_key: { description, ...schema } = {} }: JsonSchema['properties']) => ({
  in: 'header',
  name: 'Idempotency-Key',
  description,
  schema,
})

// An operation that issues a team's token accepts one too: the same team then comes back. A key comes in a team's place where it has a seat,
// and with a person opens history, which is readable as the pages are. A reader's credential is the cookie that a person has.
const securityOf = ({ callers, alsoCarries = [], peopleOnly, refusal }: ServedOp): Described['security'] => {
  const takesTeam = !peopleOnly && callers.some(({ kind }) => kind === 'team')
  const kinds: string[] = [...callers, ...alsoCarries].map(({ kind }) => kind).filter((kind) => kind !== 'team' || !peopleOnly)
  const all = new Set([...kinds, ...(refusal ? ['person', 'key'] : takesTeam ? ['key'] : [])])
  return [...all].flatMap((kind) => (kind === 'anyone' ? [{}] : kind in SECURITY_SCHEMES ? [{ [kind]: [] }] : []))
}

// Leaves out fields whose value is a variable of the shell ($NAME).
const exampleOf = (example: Record<string, unknown> = {}) => {
  const fields = Object.entries(example).filter(([, value]) => !JSON.stringify(value).includes('"$'))
  return fields.length > 0 ? { example: Object.fromEntries(fields) } : {}
}

const bodyOf = ({ textBody, markdownBody, example }: ServedOp, fields: [string, object][], inPath: string[], all: string[]) => {
  const required = all.filter((name) => !inPath.includes(name))
  const schema = { type: 'object', properties: Object.fromEntries(fields), required, additionalProperties: false }
  return {
    required: required.length > 0,
    content: {
      'application/json': { schema, ...exampleOf(example) },
      ...(textBody && {
        'text/plain': { schema: { type: 'string', minLength: 1, description: `the ${textBody} itself, if it does not begin with {` } },
      }),
      ...(markdownBody && {
        'text/markdown': { schema: { type: 'string', minLength: 1, description: `the ${markdownBody} itself, in UTF-8` } },
      }),
    },
  }
}

const answerOf = ({ output, effect, held, conditional, markdown }: ServedOp) => {
  const headers = {
    ...(effect !== 'read' && REPLAYED),
    ...(conditional && { ETag: { schema: { type: 'string' } } }),
    ...(markdown &&
      mapped(markdown.headers, ({ description }) => ({ description: `of markdown: ${description}`, schema: { type: 'integer' } }))),
  }
  return {
    // In words, not as a second content type: generated clients would give the answer the type "object or text".
    description: ['OK', held && OTHER_FORMS.held, markdown && OTHER_FORMS.markdown].filter(Boolean).join('; '),
    ...(Object.keys(headers).length > 0 && { headers }),
    content: asJson(outputSchema(output)),
  }
}

const OTHER_FORMS = {
  held: 'with Accept: text/event-stream the same object as the data of one event',
  markdown: 'with Accept: text/markdown the text alone',
}

const codesOf = (operation: ServedOp, method: string) =>
  new Set<ErrorCode>([
    ...operation.refuses,
    ...ALWAYS.filter((code) => mayMeet(operation, code)),
    ...(method === 'GET' ? [] : ['payload_too_large' as const]),
  ])

// Only calls with an idempotency key meet a mismatch; without a credential, `perform` looks nothing up and so refuses nothing itself.
const mayMeet = (operation: ServedOp, code: ErrorCode) =>
  code === 'idempotency_mismatch' ? operation.effect !== 'read' : !isOpen(operation) || (code !== 'unauthorized' && code !== 'not_found')
