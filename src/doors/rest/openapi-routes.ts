// OpenAPI for the routes that are no operations: stream, handoff, exports, import and configuration.
import { asJson, CREDENTIAL, OTHERWISE, refusals, REPLAYED, SESSION_ID, type Described } from './openapi-parts.ts'

// Readable like the pages: by anybody, unless the server has a token or password.
const READABLE: Described['security'] = [{}, { team: [] }, { person: [] }, { key: [] }]
const INCLUDE_TRACE = {
  in: 'query',
  name: 'include_trace',
  schema: { type: 'boolean', default: false },
  description: 'Also what the agents did, not only what was said.',
}
const NOT_READ = { ...refusals(['unauthorized', 'not_found', 'internal_error', 'unavailable']), ...OTHERWISE }

const STREAM = {
  operationId: 'stream_session',
  tags: ['rooms'],
  summary: 'Follow the session as server-sent events: one event of the log each, its sequence as the id, so that Last-Event-ID resumes.',
  security: READABLE,
  parameters: [
    SESSION_ID,
    CREDENTIAL,
    { in: 'query', name: 'after', schema: { type: 'integer', minimum: 0, default: 0 }, description: 'The sequence to follow it from.' },
    INCLUDE_TRACE,
    { in: 'header', name: 'Last-Event-ID', schema: { type: 'integer', minimum: 0 }, description: 'The same, for one that comes back.' },
  ],
  responses: {
    200: {
      description:
        'each `data:` is an Event; `event: closed` after the last one of a closed session, `event: bye` when the server stops, with `retry`, the milliseconds after which to come back',
      content: { 'text/event-stream': { schema: { type: 'string' } } },
    },
    204: { description: 'resumed at the end of a closed session: no more events will come' },
    ...refusals(['invalid_request']),
    ...NOT_READ,
  },
}

const HANDOFF = {
  operationId: 'session_handoff',
  tags: ['rooms'],
  summary:
    'All that is needed to continue the session, on one page: its purpose, where it stands, decisions, open points, the last messages, how to join.',
  security: READABLE,
  parameters: [SESSION_ID, CREDENTIAL],
  responses: {
    200: { description: 'at most about 40,000 characters', content: { 'text/markdown': { schema: { type: 'string' } } } },
    ...NOT_READ,
  },
}

const MARKDOWN = {
  operationId: 'export_markdown',
  tags: ['exports'],
  summary: 'The whole session to read: teams, conclusion, document and feed.',
  security: READABLE,
  parameters: [SESSION_ID, CREDENTIAL],
  responses: { 200: { description: 'OK', content: { 'text/markdown': { schema: { type: 'string' } } } }, ...NOT_READ },
}

const FEED = {
  operationId: 'export_feed',
  tags: ['exports'],
  summary:
    'The whole feed, one Event a line; where the log begins with another event than the feed, the first line names it as `first_event_id`. POST /api/traces imports it again.',
  security: READABLE,
  parameters: [SESSION_ID, CREDENTIAL, INCLUDE_TRACE],
  responses: { 200: { description: 'OK', content: { 'application/x-ndjson': { schema: { type: 'string' } } } }, ...NOT_READ },
}

const NUMBER = { type: 'integer' }
const TEXT = { type: 'string' }

const TRACES = {
  operationId: 'import_trace',
  tags: ['history'],
  summary:
    'Import a transcript (Claude Code, Codex, Gemini CLI, or the export of a session) with the file as the body. Sending it again adds only what is new.',
  security: READABLE,
  parameters: [
    { in: 'query', name: 'name', schema: TEXT, description: "The file's name." },
    { in: 'query', name: 'session_id', schema: TEXT, description: 'The session it belongs to: for its teams and for people.' },
    { ...CREDENTIAL, description: 'The team_id of a team of that session.' },
    {
      in: 'header',
      name: 'Idempotency-Key',
      schema: { type: 'string', minLength: 1, maxLength: 200 },
      description:
        'A retry with the same key and body gets the same answer; a secret random text of 22 characters or more for those who are neither a team of the room nor a person. Without a key it adds nothing either, and says added: 0.',
    },
  ],
  requestBody: {
    required: true,
    content: { 'application/x-ndjson': { schema: TEXT }, 'application/json': { schema: {} }, 'application/octet-stream': {} },
  },
  responses: {
    200: {
      description: 'what was imported, and the lines that gave no event',
      headers: REPLAYED,
      content: asJson({
        type: 'object',
        required: ['session_id', 'source', 'turns', 'events', 'added', 'skipped', 'skipped_count'],
        properties: {
          session_id: { type: 'string', format: 'uuid' },
          source: TEXT,
          turns: NUMBER,
          events: NUMBER,
          added: { ...NUMBER, description: 'events that were not there before' },
          skipped: {
            type: 'array',
            items: { type: 'object', required: ['line', 'reason'], properties: { line: NUMBER, reason: TEXT } },
          },
          skipped_count: NUMBER,
        },
      }),
    },
    ...refusals([
      'invalid_request',
      'unauthorized',
      'not_found',
      'conflict',
      'idempotency_mismatch',
      'payload_too_large',
      'internal_error',
      'unavailable',
    ]),
    ...OTHERWISE,
  },
}

const CONFIG = {
  operationId: 'get_config',
  tags: ['server'],
  summary: 'Where agents reach this server, and the times it goes by.',
  security: [{}],
  responses: {
    200: {
      description: 'OK',
      content: asJson({
        type: 'object',
        required: ['version', 'mcp_url', 'idle_limit', 'idle_after', 'disconnected_after', 'pages_open', 'agents_md'],
        properties: {
          version: { ...TEXT, description: 'of this server' },
          mcp_url: { ...TEXT, format: 'uri' },
          idle_limit: { ...NUMBER, description: 'empty waits after which an agent tells its user' },
          idle_after: { ...NUMBER, description: 'seconds' },
          disconnected_after: { ...NUMBER, description: 'seconds' },
          pages_open: { type: 'boolean', description: 'everybody who reaches this server may read its pages' },
          agents_md: { ...TEXT, format: 'uri', description: 'how an agent takes part' },
          client: { ...TEXT, format: 'uri', description: 'the program parley, for npx, where this server hands it out' },
        },
      }),
    },
    ...OTHERWISE,
  },
}

export const ROUTES: Record<string, Record<string, Described>> = {
  '/api/config': { get: CONFIG },
  '/api/sessions/{session_id}/stream': { get: STREAM },
  '/api/sessions/{session_id}/handoff.md': { get: HANDOFF },
  '/sessions/{session_id}.md': { get: MARKDOWN },
  '/sessions/{session_id}/feed.jsonl': { get: FEED },
  '/api/traces': { post: TRACES },
}
