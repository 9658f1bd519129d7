// GET /api/openapi.json, from the operations' own definitions; only the routes that are no operations are written by hand.
import { ALWAYS, type ErrorCode } from '../../core/errors.ts'
import type { ServedOp } from '../../operations/context.ts'
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
import { inputSchema, outputSchema, type JsonSchema } from './json-schema.ts'
import manifest from '../../../package.json' with { type: 'json' }

/** The OpenAPI 3.1 description of all operations, from their own definitions. */
export const openapi = (operations: readonly ServedOp[], server: string, locked: boolean) => {
  const paths: Record<string, Record<string, Described>> = { ...ROUTES }
  for (const operation of operations) {
    for (const [method, path] of [operation.route, ...(operation.aliases ?? [])]) {
      const key = `/api${path.replace(/:(\w+)/g, '{$1}')}`
      paths[key] = { ...paths[key], [method.toLowerCase()]: entry(operation, method, path) }
    }
  }
  const described = locked ? mapped(paths, (methods) => mapped(methods, behindToken)) : paths
  return {
    openapi: '3.1.0',
    info: { title: 'Parley', version: manifest.version, description: manifest.description },
    servers: [{ url: server }],
    paths: described,
    components: { schemas: SCHEMAS, securitySchemes: SECURITY_SCHEMES },
  }
}

// A person's cookie opens REST by itself.
const behindToken = ({ security, ...rest }: Described): Described => ({
  ...rest,
  security: security.map((way) => ('person' in way ? way : { ...way, accessToken: [] })),
})

const mapped = <Value, Made>(object: Record<string, Value>, make: (value: Value) => Made): Record<string, Made> =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, make(value)]))

const entry = (operation: ServedOp, method: string, path: string) => {
  const { properties, required = [] } = inputSchema(operation.input)
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!)
  const rest = Object.entries(properties).filter(
    ([name]) => !inPath.includes(name) && !(name === 'team_id' && !takesTeam(operation, method)),
  )
  const parameters: object[] = inPath.map((name) => (name === 'session_id' ? SESSION_ID : inUrl('path', name, properties[name]!, true)))
  if ('team_id' in properties && !operation.peopleOnly) parameters.push(CREDENTIAL)
  if (operation.effect !== 'read') parameters.push(keyOf(properties))
  if (operation.conditional) parameters.push({ in: 'header', name: 'If-None-Match', schema: { type: 'string' } })
  if (method === 'GET') parameters.push(...rest.map(([name, schema]) => inUrl('query', name, schema, required.includes(name))))
  return {
    operationId: method === operation.route[0] ? operation.name : `${operation.name}_${method.toLowerCase()}`,
    tags: [path.startsWith('/sessions') ? 'rooms' : path.split('/')[1]!],
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

// In a URL it would end up in logs, and where only people may call it opens nothing.
const takesTeam = ({ peopleOnly }: ServedOp, method: string) => method !== 'GET' && !peopleOnly

const inUrl = (place: 'path' | 'query', name: string, { description, ...schema }: JsonSchema['properties'][string], required: boolean) => ({
  in: place,
  name,
  required,
  ...(description && { description }),
  schema,
})

const keyOf = ({ idempotency_key: { description, ...schema } = {} }: JsonSchema['properties']) => ({
  in: 'header',
  name: 'Idempotency-Key',
  description,
  schema,
})

// A team's token may come along where a new one is given out: then the same team comes back.
const securityOf = ({ access, peopleOnly, issues, refusal }: ServedOp): Described['security'] => {
  if (peopleOnly) return [{ person: [] }]
  if (access === 'open') return [{}, ...(issues ? [{ team: [] }] : refusal ? [{ person: [] }] : [])]
  return [{ team: [] }, ...(access === 'room' ? [{ person: [] }] : [])]
}

const bodyOf = ({ textBody, example }: ServedOp, fields: [string, object][], inPath: string[], all: string[]) => {
  const required = all.filter((name) => !inPath.includes(name))
  const schema = { type: 'object', properties: Object.fromEntries(fields), required, additionalProperties: false }
  return {
    required: required.length > 0,
    content: {
      'application/json': { schema, ...(example && !JSON.stringify(example).includes('"$') && { example }) },
      ...(textBody && {
        'text/plain': { schema: { type: 'string', minLength: 1, description: `the ${textBody} itself, if it does not begin with {` } },
      }),
    },
  }
}

const answerOf = ({ output, effect, held, conditional }: ServedOp) => {
  const headers = {
    ...(effect !== 'read' && REPLAYED),
    ...(conditional && { ETag: { schema: { type: 'string' } } }),
  }
  return {
    // Not as a second content: clients made from this would take the answer for an object or a text.
    description: held ? 'OK; with Accept: text/event-stream the same object as the data of one event' : 'OK',
    ...(Object.keys(headers).length > 0 && { headers }),
    content: asJson(outputSchema(output)),
  }
}

const codesOf = (operation: ServedOp, method: string) =>
  new Set<ErrorCode>([
    ...operation.refuses,
    ...ALWAYS.filter((code) => mayMeet(operation, code)),
    ...(method === 'GET' ? [] : ['payload_too_large' as const]),
  ])

// Without a key nothing is a retry, and without a credential nothing is looked up before the operation looks itself.
const mayMeet = ({ access, effect }: ServedOp, code: ErrorCode) =>
  code === 'idempotency_mismatch' ? effect !== 'read' : access !== 'open' || (code !== 'unauthorized' && code !== 'not_found')
