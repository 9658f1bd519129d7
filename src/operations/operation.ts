// An operation is one thing that an agent, a program or a person can do: defined once, served through every door.
import { z } from 'zod'
import type { ErrorBody, ErrorCode } from '../core/errors.ts'
import { OPENS, type KeyRow } from '../core/key-scopes.ts'
import type { Topic } from '../log/topics.ts'
import type { Services } from '../process/services.ts'
import type { Call } from './call.ts'
import type { AnyCallerKind, Caller } from './callers.ts'
import { sessionSubject, type Subject } from './subject.ts'

export type Route = readonly [method: 'GET' | 'POST', path: string]

/** What `perform` must know of an operation. */
export interface Operation<Context, I extends z.ZodObject = z.ZodObject, O extends z.ZodObject = z.ZodObject> {
  name: string
  /** One or two sentences: what for, and when. Agents read it. */
  summary: string
  /** The kinds of callers that may; the first one whose credential a call brings decides who calls. */
  callers: readonly AnyCallerKind[]
  /** Kinds whose credential a call may bring along although none is asked for: a team that joins again. */
  alsoCarries?: readonly AnyCallerKind[]
  /** read; write: in one transaction that holds the subject; append: through the group commit (log/group-commit.ts). */
  effect: 'read' | 'write' | 'append'
  /** What a write locks, and what idempotency keys are kept under. The session of the input's `session_id` unless given. */
  subject?: (input: z.output<I>, caller: Caller) => Subject | undefined
  /** Inputs that say when the call may act, or how its caller waits for the answer, and nothing of what it does. They are no part of what an
   *  idempotency key was used for: a retry may bring others. */
  retryMayChange?: readonly string[]
  /** The answer may be held back for as long as the caller asked: it is streamed where the caller accepts that. */
  held?: boolean
  /** The topic whose news ends the wait: subscribed to before anything is looked up, so that no news is missed. */
  topic?: (input: z.output<I>) => Topic | undefined
  /** The answer holds a new credential: this field is it, or ends with it; with `code`, the field `url` ends with it too. */
  issues?: 'team_id' | 'url' | 'code'
  /** With ACCESS_TOKEN set, may this call pass without it (Call.refuseTokenless)? Not asked for teams that joined by an invitation, which always
   *  may. */
  letsIn?: (services: Services, call: Call, input: z.output<I>) => Promise<boolean>
  /** Teams get 403: only a signed-in person may, or a key where that is among its callers. */
  peopleOnly?: boolean
  /** Where no team may call it: one sentence on who may and what others do instead. Said with 401, with 403 to a key that does not open it,
   *  and with 403 to a team where it is for people only. */
  onlyFor?: string
  /** Which keys open it. Where keys are no callers, they come along with another credential, and need no row. */
  keyRow?: KeyRow
  /** What a new credential is derived from beside the idempotency key, where it is not the operation's id. It never changes: a retry must
   *  get the same credential again. */
  derivedAs?: string
  input: I
  output: O
  refuses: readonly ErrorCode[]
  /** Not served while this server answers to any host name: a foreign web page could then call it in a visitor's name. */
  needsKnownHosts?: boolean
  /** Its texts are what a program printed: `run` cleans them (transcripts/storable.ts) where those of a caller would be refused. */
  cleansTexts?: boolean
  /** Looks at a write before its transaction begins, and may refuse it; what it does itself then stays done. Not asked for a replay. */
  beforehand?(context: Context, input: z.output<I>): Promise<void>
  run(context: Context, input: z.output<I>): Promise<z.output<O>>
  /** Runs once the write is committed, outside of its transaction, and waits for what follows; after a replay, too. Goes with `held`. */
  afterwards?(context: Context, answer: z.output<O>, input: z.output<I>): Promise<z.output<O>>
}

/** An operation that agents and programs can call, and what the doors must know of it. Those without a route are called by pages, and by this
 *  server's own jobs. */
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
  /** REST gives an ETag, and 304 to a request that brings it while nothing has changed. */
  conditional?: boolean
  /** Bytes of a body that are accepted; 1 MiB unless given. */
  bodyLimit?: number
  /** The argument that a body becomes which is not JSON: `curl -d 'hello'`. */
  textBody?: string
  /** The argument that a body of the type text/markdown becomes, never read as JSON; the others then stand in the URL. */
  markdownBody?: string
  /** The answer as markdown, for a request that prefers that. */
  markdown?: Markdown<z.output<O>>
  /** Calling it again does something again, or replaces what was there. For MCP's annotations. */
  destructive?: boolean
  /** Starts programs on people's machines. For MCP's annotations. */
  openWorld?: boolean
  /** No agent gets far without this tool: Claude Code, which hides tools from its model until that looks for them, shows it at once. */
  alwaysLoad?: boolean
  /** The few words by which a model there finds any other tool. */
  searchHint?: string
  /** Capabilities of an MCP client without which a call of it is pointless: one that does not declare them is refused (revision 2026-07-28). */
  clientCapabilities?: readonly string[]
  /** Adds a session, or renames one, to those that MCP's resources/list has. */
  changesResources?: boolean
  /** What its line of curl in the guide sends, beside the session and the credential; $NAME is a variable of the shell. */
  example?: Record<string, unknown>
  /** Its errors as a whole answer, where a specification wants another shape than { error }. `raw`: what the caller sent. */
  refusal?: (error: ErrorBody, raw: unknown, elapsedMs: number) => object
}

/** An answer as text, and what else of it its headers say (undefined: nothing). */
export interface Markdown<Answer> {
  text(answer: Answer): string
  headers: Readonly<Record<string, { description: string; value(answer: Answer): number | undefined }>>
}

/** What `op` adds. `id` (`rooms.post_message`) names it among all operations; `carried` are the arguments that are no part of its input. */
export interface Identity {
  toolset: string
  id: string
  carried: readonly string[]
}

// A list of operations forgets each one's schemas but keeps their context.
export type AnyOperation<Context> = Operation<Context, any, any> & Identity
export type AnyServed<Context> = Served<Context, any, any> & Identity

const retryKey = {
  idempotency_key: z.string().min(1).max(200).optional().describe('Makes a retry apply once.'),
}
const secretKey = {
  idempotency_key: z.string().min(22).max(200).optional().describe('Secret, random: makes retries safe.'),
}

/** The two ways to define an operation of a toolset: `op` one that is served, `internalOp` one that no door leads to. */
export const operationsOf = <Context>(toolset: string) => ({
  op: <const Kinds extends CallerKinds, I extends z.ZodObject, O extends z.ZodObject>(operation: Served<Context, I, O> & OpenedBy<Kinds>) =>
    identified(toolset, operation),
  internalOp: <const Kinds extends CallerKinds, I extends z.ZodObject, O extends z.ZodObject>(
    operation: Operation<Context, I, O> & OpenedBy<Kinds>,
  ) => identified(toolset, operation),
})

type CallerKinds = readonly AnyCallerKind[]
// An operation that keys may call says which keys: without a row of its own it would not compile.
type OpenedBy<Kinds extends CallerKinds> = { callers: Kinds } & ('key' extends Kinds[number]['kind'] ? { keyRow: KeyRow } : unknown)

const identified = <Op extends Operation<never, any, any>>(toolset: string, operation: Op): Op & Identity => {
  const carried = carriedBy(operation)
  const input = operation.input.extend(carried)
  const subject = operation.subject ?? ('session_id' in operation.input.shape ? ofSession : undefined)
  const id = `${toolset}.${operation.name}`
  return { ...operation, ...(subject && { subject }), toolset, id, input, carried: Object.keys(carried) }
}

const ofSession = ({ session_id }: { session_id: string }) => sessionSubject(session_id)

/** Which keys may come with a call of this operation, as its caller or beside another credential. */
export const keyRowOf = ({ keyRow, effect }: Pick<Operation<never>, 'keyRow' | 'effect'>): KeyRow =>
  keyRow ?? (effect === 'read' ? OPENS.beside_read : OPENS.beside_write)

/** No credential is asked for. */
export const isOpen = ({ callers }: Pick<Operation<never>, 'callers'>) => callers.some(({ kind }) => kind === 'anyone')

// What a call may carry beside the input, so that no operation can forget it: credentials, and a write's idempotency key.
const carriedBy = (operation: Pick<Operation<never>, 'callers' | 'alsoCarries' | 'effect'>): z.ZodRawShape => {
  const { callers, alsoCarries = [], effect } = operation
  const credentials: z.ZodRawShape = Object.assign({}, ...[...callers, ...alsoCarries].map(({ carries }) => carries))
  if (effect === 'read') return credentials
  return { ...credentials, ...(isOpen(operation) ? secretKey : retryKey) }
}
