// Schemas, parameters and responses that the paths of the OpenAPI document share.
import { STATUS, type ErrorCode } from '../../core/errors.ts'

/** One method of a path. */
export interface Described {
  security: Record<string, string[]>[] // one of them is enough
  [field: string]: unknown
}

/** The credentials; each operation lists those that it accepts. */
export const SECURITY_SCHEMES = {
  team: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Team-ID',
    description: 'The team_id that create_session or join_session answered with. In a JSON body the argument team_id does the same.',
  },
  person: {
    type: 'apiKey',
    in: 'cookie',
    name: 'parley_person',
    description: 'A person who has signed in on the pages; for reading also a reader.',
  },
  key: {
    type: 'http',
    scheme: 'bearer',
    description:
      'A key of a program, made on the settings page (ca_…); its scope says what it opens. In a session that control opened for it, it needs no team_id.',
  },
  invite: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Invite',
    description: 'The code of an invitation to the session; the argument invite does the same.',
  },
  accessToken: { type: 'http', scheme: 'bearer', description: "The server's ACCESS_TOKEN, if it has one, or a key that opens the call." },
}

const errorIn = (codes: string[]) => ({
  type: 'object',
  required: ['code', 'message', 'details'],
  properties: {
    code: { type: 'string', description: `one of ${codes.join(', ')}` },
    message: { type: 'string', description: 'what is wrong and what to do next' },
    details: { type: 'object', description: 'field: what is wrong with which; retry_after: seconds; and what else the code calls for' },
  },
})

export const SCHEMAS = {
  Error: { type: 'object', required: ['error'], properties: { error: errorIn(Object.keys(STATUS)) } },
  HistoryError: {
    type: 'object',
    required: ['schema_version', 'tool', 'request', 'error', 'warnings', 'performance'],
    properties: {
      schema_version: { type: 'string', const: 'moraine.mcp.error.v1' },
      tool: { type: 'string' },
      request: { type: 'object', description: 'as it was sent' },
      error: errorIn(Object.keys(STATUS)),
      warnings: { type: 'array', items: { type: 'string' } },
      performance: {
        type: 'object',
        properties: { elapsed_ms: { type: 'integer' }, sla_target_ms: { type: 'integer' }, met_sla: { type: 'boolean' } },
      },
    },
  },
  Event: {
    type: 'object',
    description: 'What was said, or with type system what happened: then event names it, and its own fields stand beside.',
    required: ['id', 'sequence', 'type', 'at'],
    properties: {
      id: { type: 'string', format: 'uuid' },
      sequence: { type: 'integer', description: 'the cursor' },
      type: { type: 'string' },
      author: { type: 'string' },
      team: { type: ['string', 'null'] },
      posted_by_team_id: { type: ['string', 'null'], description: 'the handle of the team' },
      content: { type: 'object' },
      event: { type: 'string' },
      reply_to: { type: 'string' },
      to: { type: 'array', items: { type: 'string' }, description: 'the handles of the teams that it is addressed to' },
      to_people: { type: 'array', items: { type: 'string' }, description: 'the names of the people' },
      expects_reply: { type: 'boolean', description: 'a question to those in to and to_people' },
      task_id: { type: 'string' },
      prompted_by: {
        type: 'object',
        required: ['kind', 'name', 'session_id'],
        properties: {
          kind: { type: 'string', description: 'person, key or agent' },
          name: { type: 'string' },
          session_id: { type: ['string', 'null'], description: "an agent's own session" },
        },
        description: 'who gave the prompt that a user_input is',
      },
      tool_name: { type: 'string' },
      model: { type: 'string' },
      at: { type: 'string', format: 'date-time' },
      acknowledged_by: { type: 'array', items: { type: 'string' }, description: 'in get_history' },
      truncated: {
        type: 'object',
        properties: { chars: { type: 'integer' }, omitted: { type: 'object', additionalProperties: { type: 'integer' } } },
        description:
          'its texts and lists were cut to max_chars: so many characters had the longest text, so many entries were left out of each list. get_history with message_id has it whole',
      },
      delivered_to: { type: 'array', items: { type: 'string' }, description: 'in get_history, of those named in to' },
    },
  },
}

export const refTo = (name: keyof typeof SCHEMAS) => ({ $ref: `#/components/schemas/${name}` })
export const asJson = (schema: object) => ({ 'application/json': { schema } })

export const REPLAYED = {
  'Idempotency-Replayed': { description: 'true: the answer to an earlier call with the same key', schema: { type: 'string' } },
}
const RETRY_AFTER = { 'Retry-After': { description: 'seconds', schema: { type: 'integer' } } }
const MAY_RETRY: readonly ErrorCode[] = ['rate_limited', 'loop_suspected', 'unavailable', 'deadline_exceeded']

/** The error responses of these codes, by status. */
export const refusals = (codes: Iterable<ErrorCode>, schema: object = refTo('Error')) =>
  Object.fromEntries(
    [...Map.groupBy(codes, (code) => STATUS[code])].map(([status, names]) => [
      status,
      {
        description: names.join(', '),
        ...(names.some((name) => MAY_RETRY.includes(name)) && { headers: RETRY_AFTER }),
        content: asJson(schema),
      },
    ]),
  )

/** The errors that depend on this server's configuration: guards, rate limit, access token. */
export const OTHERWISE = {
  default: { description: 'unauthorized, forbidden or rate_limited, where this server asks for more', content: asJson(refTo('Error')) },
}

export const SESSION_ID = {
  in: 'path',
  name: 'session_id',
  required: true,
  description: "The session's id.",
  schema: { type: 'string', minLength: 1, maxLength: 300 },
}

export const CREDENTIAL = {
  in: 'header',
  name: 'X-Team-ID',
  schema: { type: 'string', maxLength: 200 },
  description: 'The team_id that create_session or join_session answered with.',
}
