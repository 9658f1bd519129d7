// Makes a tool of history: its route, who may read, its deadline, and the envelope around answers and errors. "moraine" in names and messages
// is part of the tools' protocol: clients compare these strings.
import { z } from 'zod'
import { withinDeadline } from '../../db/database.ts'
import { refuse, unauthorized, type ErrorBody, type ErrorCode } from '../core/errors.ts'
import { anyone } from '../operations/callers.ts'
import { operationsOf } from '../operations/operation.ts'
import { redacted } from '../core/text/text.ts'
import { OPENS } from '../core/key-scopes.ts'
import type { Context } from '../operations/context.ts'
import { isTimeout } from '../../db/errors.ts'

interface ToolResult<Data> {
  /** The request with its defaults filled in. */
  request: Record<string, unknown>
  data: Data
  warnings?: string[]
  /** Milliseconds within which this answer is due; the envelope says whether it was. */
  target: number
}

interface Tool<I extends z.ZodObject, D extends z.ZodObject> {
  name: string
  summary: string
  input: I
  data: D
  refuses: readonly ErrorCode[]
  /** The target that an error's envelope has. */
  target: number
  deadlineMs: number
  run(context: Context, input: z.output<I>): Promise<ToolResult<z.output<D>>>
}

/** An argument that may be left out or null, and is `otherwise` then. Its JSON schema has a list of types, since some clients take no union. */
export const nullable = <S extends z.ZodType, const O>(schema: S, otherwise: O, jsonSchema: { type: string; [keyword: string]: unknown }) =>
  schema
    .nullish()
    .transform((input) => input ?? otherwise)
    .meta({ ...jsonSchema, type: [jsonSchema.type, 'null'] })

/** An argument for a number of rows; clients compare the sentence with which a wrong one is refused. */
export const rowLimit = (name: string, most: number, usually: number) => {
  const wrong = `${name} must be an integer from 1 to ${most}`
  const count = z.int({ error: wrong }).min(1, wrong).max(most, wrong)
  return nullable(count, usually, { type: 'integer', minimum: 1, maximum: most }).describe(`How many, 1 to ${most}; ${usually} by default.`)
}

const { op, internalOp } = operationsOf<Context>('history')

/** An operation of the toolset: answers and errors come in the envelope. */
export const tool = <I extends z.ZodObject, D extends z.ZodObject>({ searchHint, ...defined }: Tool<I, D> & { searchHint: string }) => {
  const { name, target } = defined
  return op({
    ...enveloped(defined),
    searchHint,
    route: ['POST', `/history/${name}`],
    refusal: (error, raw, elapsed) => errorEnvelope(name, target, error, raw, elapsed),
  })
}

/** The same for pages: without a route, and not in the toolset. */
export const pageTool = <I extends z.ZodObject, D extends z.ZodObject>(defined: Tool<I, D>) => internalOp(enveloped(defined))

const enveloped = <I extends z.ZodObject, D extends z.ZodObject>({ name, summary, input, data, refuses, deadlineMs, run }: Tool<I, D>) => ({
  name,
  summary,
  callers: [anyone],
  keyRow: OPENS.everything,
  effect: 'read' as const,
  input,
  output: envelope(name, data),
  refuses: [...refuses, 'deadline_exceeded' as const, 'unauthorized' as const],
  async run(context: Context, given: z.output<I>) {
    const begun = context.call.began ?? performance.now()
    if (context.call.mayRead?.() === false)
      unauthorized(
        'This reads every session, which needs the access token, if this server has one, a key of the scope read or full, or a signed-in person. Your own session you read with get_history, read_session_doc and catch_up.',
      )
    const {
      request,
      data,
      warnings = [],
      target,
    } = await withinDeadline(context.services.indexer.duringSearch(run(context, given)), deadlineMs).catch((error) => {
      if (!isTimeout(error)) throw error
      return refuse('deadline_exceeded', `${name} took longer than ${deadlineMs} ms; ask for less at a time`, {
        deadline_ms: deadlineMs,
        retry_after: 1,
      })
    })
    const answer = { schema_version: `moraine.mcp.${name}.v1`, tool: name, request, data, warnings }
    return { ...answer, performance: timing(performance.now() - begun, target) } as never
  },
})

const performanceShape = z.object({ elapsed_ms: z.int(), sla_target_ms: z.int(), met_sla: z.boolean() })

const envelope = (name: string, data: z.ZodObject) =>
  z.object({
    schema_version: z.literal(`moraine.mcp.${name}.v1`),
    tool: z.literal(name),
    request: z.record(z.string(), z.unknown()),
    data,
    warnings: z.array(z.string()),
    performance: performanceShape,
  })

const timing = (elapsed: number, target: number) => ({ elapsed_ms: Math.round(elapsed), sla_target_ms: target, met_sla: elapsed <= target })

const errorEnvelope = (name: string, target: number, { code, message, details }: ErrorBody, raw: unknown, elapsed: number) => {
  const { issues, ...more } = details
  const [first] = (issues ?? []) as { message: string }[] // a field's own sentence already names it
  return {
    schema_version: 'moraine.mcp.error.v1',
    tool: name,
    request: echo(raw),
    error: { code, message: first?.message ?? message, details: more },
    warnings: [],
    performance: timing(elapsed, target),
  }
}

const ECHOED = 4_096 // characters of a text, at most

// The request as it was sent, but without credentials, and with long texts cut.
const echo = (raw: unknown): unknown => {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return {}
  try {
    const text = JSON.stringify(raw, (_, value) =>
      typeof value === 'string' && value.length > ECHOED ? `${value.slice(0, ECHOED)}…` : value,
    )
    return text.length > 16 * ECHOED ? {} : JSON.parse(redacted(text))
  } catch {
    return {} // nested too deep to be written
  }
}

/** A required text. Null and blanks are refused with one sentence, which clients compare. */
export const nonEmptyText = (name: string) => {
  const message = `${name} must be a non-empty string`
  return z.string({ error: message }).trim().min(1, message)
}
