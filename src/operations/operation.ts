// An operation is one thing that an agent, a program or a person can do: defined once, served through every door.
import { z } from 'zod'
import type { ErrorBody, ErrorCode } from '../core/errors.ts'

export type Route = readonly [method: 'GET' | 'POST', path: string]

/** What the gate must know of an operation (perform.ts). */
export interface Operation<Context, I extends z.ZodObject = z.ZodObject, O extends z.ZodObject = z.ZodObject> {
  name: string
  /** One or two sentences: what for, and when. Agents read it. */
  summary: string
  /** open: no credential. team: a team of the session. room: a team, or a signed-in person. */
  access: 'open' | 'team' | 'room'
  /** read; write: in one transaction that holds the session; append: through the group commit (log/group-commit.ts). */
  effect: 'read' | 'write' | 'append'
  /** The answer may be held back for as long as the caller asked: it is streamed where the caller accepts that. */
  held?: boolean
  /** The answer holds a new credential: this field is it, or ends with it. */
  issues?: 'team_id' | 'url'
  input: I
  output: O
  refuses: readonly ErrorCode[]
  /** Does it. Without a promise only where the answer is in memory: a poll that needs none is quicker (bench/mcp). */
  run(context: Context, input: z.output<I>): z.output<O> | Promise<z.output<O>>
}

/** One that agents and programs can call, and what the doors must know of it. Those without a route are the pages' own. */
export interface Served<Context, I extends z.ZodObject = z.ZodObject, O extends z.ZodObject = z.ZodObject> extends Operation<
  Context,
  I,
  O
> {
  route: Route
  /** PUT and PATCH forms that stand beside the route. */
  aliases?: readonly (readonly [method: 'PUT' | 'PATCH', path: string])[]
  /** Has no tool: for curl and the pages alone. */
  restOnly?: boolean
  /** Teams get 403: only a signed-in person may. */
  peopleOnly?: boolean
  /** REST gives an ETag, and 304 to a request that brings it while nothing has changed. */
  conditional?: boolean
  /** Bytes of a body that are accepted; 1 MiB unless given. */
  bodyLimit?: number
  /** The argument that a body becomes which is not JSON: `curl -d 'hello'`. */
  textBody?: string
  /** Calling it again does something again, or replaces what was there. For MCP's annotations. */
  destructive?: boolean
  /** Adds a session, or renames one, to those that MCP's resources/list has. */
  changesResources?: boolean
  /** What its line in AGENTS.md sends, beside the session and the credential; $NAME is a variable of the shell. */
  example?: Record<string, unknown>
  /** Its errors as a whole answer, where a specification wants another shape than { error }. `raw`: what the caller sent. */
  refusal?: (error: ErrorBody, raw: unknown, elapsedMs: number) => object
}

// A list of operations forgets each one's schemas but keeps their context.
export type AnyOperation<Context> = Operation<Context, any, any>
export type AnyServed<Context> = Served<Context, any, any>

const credential = { team_id: z.string().max(200).optional().describe('Your credential, if you cannot send the X-Team-ID header.') }
const retryKey = {
  idempotency_key: z.string().min(1).max(200).optional().describe('Any text you choose: a retry with the same key is applied only once.'),
}
const secretKey = {
  idempotency_key: z
    .string()
    .min(22)
    .max(200)
    .optional()
    .describe('A secret random text: a retry with the same key gives the same team again.'),
}

/** Two ways to define an operation: `op` one that is served, `pageOp` one of the pages' own. */
export const operationsFor = <Context>() => ({
  op: <I extends z.ZodObject, O extends z.ZodObject>(operation: Served<Context, I, O>): Served<Context, I, O> => withCarried(operation),
  pageOp: <I extends z.ZodObject, O extends z.ZodObject>(operation: Operation<Context, I, O>): Operation<Context, I, O> =>
    withCarried(operation),
})

// Adds to the input what every call may carry, so that no operation can forget it.
const withCarried = <Op extends Pick<Operation<never>, 'access' | 'effect' | 'issues' | 'input'>>(operation: Op): Op => {
  const { access, effect, issues, input } = operation
  const key = effect === 'read' ? {} : access === 'open' ? secretKey : retryKey
  const carried = { ...(access === 'open' && !issues ? {} : credential), ...key }
  return { ...operation, input: input.extend(carried) }
}
