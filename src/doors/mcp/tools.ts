// Operations as MCP tools: how each is listed, and how a call of one is answered.
import type { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { isUuid } from '../../core/ids.ts'
import { redacted } from '../../core/text/text.ts'
import type { Call } from '../../operations/call.ts'
import type { ServedOp, Outcome } from '../../operations/context.ts'
import { perform } from '../../operations/perform.ts'
import { namesOf, type Toolset } from '../../operations/toolset.ts'
import type { Services } from '../../process/services.ts'
import { inputSchema } from '../http/json-schema.ts'
import { refusalOf } from '../http/calls.ts'
import { invalidParams } from './errors.ts'
import type { RequestTransport } from './transport.ts'

/** The operations that are tools, by the name they have where these toolsets are served together. */
export const toolNames = (toolsets: readonly Toolset[]): Map<string, ServedOp> =>
  new Map([...namesOf(toolsets)].filter(([, { restOnly }]) => !restOnly))

/** A text of this toolset, with its tools by the names that they have among these operations. */
export const asNamedHere = (text: string, toolset: string, operations: Map<string, ServedOp>): string =>
  [...operations]
    .filter(([name, operation]) => operation.toolset === toolset && operation.name !== name)
    .reduce((said, [name, operation]) => said.replaceAll(new RegExp(`\\b${operation.name}\\b`, 'g'), name), text)

/** A tool as tools/list shows it. */
const toolOf = (name: string, { summary, effect, destructive, openWorld = false, input, alwaysLoad, searchHint }: ServedOp) => ({
  name,
  description: summary,
  inputSchema: inputSchema(input),
  annotations: {
    readOnlyHint: effect === 'read',
    ...(effect !== 'read' && { destructiveHint: destructive ?? false, idempotentHint: false }),
    openWorldHint: openWorld,
  },
  // Claude Code 2.1.330 hides every tool behind its ToolSearch that does not ask to be loaded.
  ...(alwaysLoad && { _meta: { 'anthropic/alwaysLoad': true } }),
  ...(searchHint && { _meta: { 'anthropic/searchHint': searchHint } }),
})

/** These operations as tools/list shows them. `all`: what they may name, which are more where some are left out. */
export const toolsOf = (operations: Map<string, ServedOp>, all = operations) =>
  [...operations].map(([name, operation]) => {
    const tool = toolOf(name, operation)
    return { ...tool, description: asNamedHere(tool.description, operation.toolset, all) }
  })

/** Lists these operations as tools, and performs what is called. */
export const serveTools = (
  server: Server,
  transport: RequestTransport<Call>,
  services: Services,
  operations: Map<string, ServedOp>,
  all: Map<string, ServedOp>,
) => {
  const tools = toolsOf(operations, all)
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }))
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { requestId }) => {
    const operation = operations.get(params.name)
    if (!operation) return invalidParams(`There is no tool named ${redacted(params.name)} here. tools/list has the names.`)
    const call = { ...transport.callerOf(requestId), thread: threadIn(params._meta) }
    const given = params.arguments ?? {}
    const outcome = await perform(operation, services, call, given)
    return resultOf(outcome, refusalOf(operation, outcome, given, call))
  })
}

const threadIn = (meta: Record<string, unknown> | undefined): string | undefined =>
  typeof meta?.threadId === 'string' && isUuid(meta.threadId) ? meta.threadId : undefined

const REPLAYED = { _meta: { idempotency_replayed: true } } // REST has the header Idempotency-Replayed for it

// No tool advertises an outputSchema: the SDK's client would then reject an error that carries structuredContent.
const resultOf = (outcome: Outcome, refusal?: object) => {
  const body = outcome.ok ? outcome.data : (refusal ?? { error: outcome.error })
  return {
    content: [{ type: 'text' as const, text: JSON.stringify(body) }],
    structuredContent: body as Record<string, unknown>,
    ...(outcome.ok && outcome.replayed && REPLAYED),
    ...(!outcome.ok && { isError: true }),
  }
}
