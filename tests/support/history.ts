// Asking history through each of its doors, and traces to ask about.
import { describe, expect } from 'bun:test'
import { STATUS, type ErrorCode } from '../../src/core/errors.ts'
import { uuid7 } from '../../src/core/ids.ts'
import { utf8Bytes } from '../../src/core/text/text.ts'
import { onOneEngine, operationNamed, soon, transports, type As, type Environment, type Parley, type Served } from './parley.ts'

/** Waits until the index of sessions is as far as their titles and documents. A session that was just indexed may rest: a run leaves it out. */
export const sessionsIndexed = ({ services: { database, indexer } }: Pick<Served, 'services'>) =>
  soon('all sessions are indexed', async () => {
    await indexer.run()
    const behind = await database.query(
      `select from sessions s left join session_docs d on d.session_id = s.id left join session_search i on i.session_id = s.id
       where i.doc_version is distinct from coalesce(d.version, 0) limit 1`,
    )
    return behind.length === 0
  })

export type Ask = (tool: string, input?: Record<string, unknown>, as?: As) => Promise<any>

// What holds for every answer: one envelope with `data`, or the same with `error` in its place [B6 B7].
const checked = (tool: string, body: any, input: Record<string, unknown>) => {
  const keys = ['performance', 'request', 'schema_version', 'tool', 'warnings']
  expect(Object.keys(body).toSorted()).toEqual([body.error ? 'error' : 'data', ...keys].toSorted())
  expect(body.tool).toBe(tool)
  expect(body.schema_version).toBe(body.error ? 'moraine.mcp.error.v1' : `moraine.mcp.${tool}.v1`)
  expect(body.warnings).toBeArray()
  const { elapsed_ms, sla_target_ms, met_sla } = body.performance
  expect(elapsed_ms).toBeGreaterThanOrEqual(0)
  expect(met_sla).toBe(elapsed_ms <= sla_target_ms)
  if (body.error) {
    expect(Object.keys(body.error).toSorted()).toEqual(['code', 'details', 'message'])
    expect([...operationNamed(`history.${tool}`).refuses, 'invalid_request', 'secret_in_text', 'unavailable']).toContain(body.error.code)
    if (body.error.code !== 'secret_in_text') expect(body.request).toEqual(input)
  } else expect(operationNamed(`history.${tool}`).output.parse(body)).toEqual(body)
  for (const [, time] of JSON.stringify(body.data ?? {}).matchAll(/"(?:timestamp|started_at|updated_at)":"([^"]*)"/g))
    expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  return body
}

export const askOverRest =
  ({ send }: Served): Ask =>
  async (tool, input = {}, { person, headers } = {}) => {
    const response = await send(`/api/history/${tool}`, {
      headers: { 'content-type': 'application/json', ...(person && { cookie: person }), ...headers },
      body: JSON.stringify(input),
    })
    const body = (await response.json()) as any
    expect(response.status).toBe(body.error ? STATUS[body.error.code as ErrorCode] : 200)
    return checked(tool, body, input)
  }

export const askOverMcp =
  ({ client }: Served): Ask =>
  async (tool, input = {}, { headers } = {}) => {
    const result = await (await client('/mcp/history', headers)).callTool({ name: tool, arguments: input })
    const body = result.structuredContent as any
    expect(JSON.parse((result.content as { text: string }[])[0]!.text)).toEqual(body)
    expect(result.isError ?? false).toBe(body.error !== undefined)
    return checked(tool, body, input)
  }

const ASK = { REST: askOverRest, MCP: askOverMcp }

/** The body's tests over each transport on Postgres; on the embedded database too with `bun run test --all`. */
export const throughHistory = (body: (ask: Ask, parley: () => Parley) => void, env: Environment = {}) =>
  onOneEngine((parley) => {
    for (const [transport] of transports) describe(`over ${transport}`, () => body((...call) => ASK[transport](parley())(...call), parley))
  }, env)

/** Resolves once everything written so far is indexed. */
export const indexed = ({ database }: Pick<Served, 'database'>) =>
  soon(
    'the index is as far as the log',
    async () => {
      const [row] = await database.query<{ behind: number }>(
        'select count(*)::int as behind from sessions s left join session_index i on i.session_id = s.id where coalesce(i.indexed_sequence, 0) < s.last_sequence',
      )
      return row!.behind === 0
    },
    60,
  )

export interface Step {
  type: string
  text?: string
  content?: Record<string, unknown>
  tool?: string | null
  model?: string
  madeBy?: string
  terminal?: boolean
}

/** A session as an import leaves it: turns of steps. Events are a second apart and begin at `from`. */
export const trace = async (
  { database, services }: Served,
  turns: Step[][],
  { title = 'Shipping the parser', from = '2026-04-29T18:00:00.000Z' } = {},
) => {
  const id = uuid7()
  const steps = turns.flatMap((own, turn) => own.map((step, ordinal) => ({ ...step, turn: turn + 1, ordinal: ordinal + 1 })))
  const at = (n: number) => new Date(Date.parse(from) + n * 1000).toISOString()
  const events = steps.map(({ type, text, content = { text }, tool, model, madeBy, terminal, turn, ordinal }, n) => ({
    sequence: n + 1,
    id: uuid7(),
    turn,
    ordinal,
    type,
    tool,
    model,
    made_by: madeBy,
    terminal: terminal ?? null,
    at: at(n),
    content,
    size: utf8Bytes(JSON.stringify(content)),
  }))
  await database.transaction(async ({ query }) => {
    await query(
      `insert into sessions (id, title, description, series_id, source, status, last_sequence, turn, created_at, last_event_at)
       values ($1, $2, 'From a transcript.', $1, 'codex', 'closed', $3, $4, $5, $6)`,
      [id, title, events.length, turns.length, from, at(events.length - 1)],
    )
    await query(`insert into session_index (session_id, started_at, updated_at) values ($1, $2, $3)`, [id, from, at(events.length - 1)])
    await query(
      `insert into events (session_id, sequence, id, turn, ordinal, type, author, content, size, tool_name, model, originating_model, terminal, source_line, at)
       select $1, sequence, id, turn, ordinal, type, 'agent', content, size, tool, model, made_by, terminal, sequence, at
       from json_to_recordset($2::json) as e(sequence bigint, id uuid, turn int, ordinal int, type text, content jsonb, size int, tool text,
         model text, made_by text, terminal bool, at timestamptz)`,
      [id, JSON.stringify(events)],
    )
  }, 60_000)
  services.indexer.moved(id)
  return { id, session: `session:${id}`, turn: (n: number) => `turn:${id}_${n}`, events: events.map((event) => `event:${event.id}`) }
}
