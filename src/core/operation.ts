// An operation is everything an agent or a curl can do: defined once, served through every door (house.md, section 3).
import { z } from 'zod'
import type { ErrorBody, ErrorCode } from './errors.ts'

export type Route = readonly [method: 'GET' | 'POST', path: string]

export interface Operation<Context, I extends z.ZodObject = z.ZodObject, O extends z.ZodObject = z.ZodObject> {
  name: string
  /** One or two sentences: what for, and when. Agents read it. */
  summary: string
  route: Route
  /** PUT and PATCH forms that stand beside the route. */
  aliases?: readonly (readonly [method: 'PUT' | 'PATCH', path: string])[]
  /** open: no credential. team: a team of the session. room: a team, or a signed-in person. */
  access: 'open' | 'team' | 'room'
  /** read; write: in one transaction that holds the session; append: through the group commit (core of the feed). */
  effect: 'read' | 'write' | 'append'
  /** The answer may be held back for as long as the caller asked: it is streamed where the caller can take that. */
  held?: boolean
  /** REST gives an ETag, and 304 to whoever brings it while nothing has changed. */
  conditional?: boolean
  /** Calling it again does something again, or replaces what was there. For MCP's annotations. */
  destructive?: boolean
  /** The answer holds a new credential: as team_id, or at the end of url. */
  issues?: boolean
  /** Has no tool: for curl and the pages alone. */
  restOnly?: boolean
  /** Bytes of a body that are taken; 1 MiB unless said. */
  bodyLimit?: number
  input: I
  output: O
  refuses: readonly ErrorCode[]
  /** Its errors as a whole answer, where a specification wants another shape than { error }. `raw`: what the caller sent. */
  refusal?: (error: ErrorBody, raw: unknown, elapsedMs: number) => object
  run(context: Context, input: z.output<I>): Promise<z.output<O>>
}

// A list of operations forgets each one's schemas but keeps their context.
export type AnyOperation<Context> = Operation<Context, any, any>

const credential = { team_id: z.string().max(200).optional().describe('Your credential, if you cannot send the X-Team-ID header.') }
const retryKey = {
  idempotency_key: z.string().min(1).max(200).optional().describe('Any text of yours: a retry with it does nothing twice.'),
}
const secretKey = {
  idempotency_key: z.string().min(22).max(200).optional().describe('A secret random text: a retry with it gives the same team again.'),
}

/** Adds to the input what every call may carry, so that no operation can forget it. */
export const operationsFor =
  <Context>() =>
  <I extends z.ZodObject, O extends z.ZodObject>(operation: Operation<Context, I, O>): Operation<Context, I, O> => {
    const { access, effect, issues, input } = operation
    const key = effect === 'read' ? {} : access === 'open' ? secretKey : retryKey
    const carried = { ...(access === 'open' && !issues ? {} : credential), ...key }
    return { ...operation, input: input.extend(carried) as unknown as I }
  }
