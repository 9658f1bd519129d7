// What MCP clients offer to people rather than to the model: resources, prompts, and completions of their arguments.
import type { Server } from '@modelcontextprotocol/sdk/server/index.js'
import {
  CompleteRequestSchema,
  ErrorCode,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ReadResourceRequestSchema,
  type RequestId,
} from '@modelcontextprotocol/sdk/types.js'
import { errorBody } from '../../operations/perform.ts'
import type { Services } from '../../process/services.ts'
import type { Exchange } from './transport.ts'
import { ProtocolError } from './errors.ts'
import { completionOf, promptOf, prompts } from './prompts.ts'
import { listResources, readResource, resourceTemplates, type McpCall } from './resources.ts'

/** Serves the sessions' resources, and the prompts that lead into them. */
export const serveSessions = (server: Server, exchange: Exchange<McpCall>, services: Services) => {
  const callOf = ({ requestId }: { requestId: RequestId }) => exchange.callerOf(requestId)
  // The SDK would tell the client the message of any error.
  const told = <Result>(work: Promise<Result>): Promise<Result> =>
    work.catch((error) => {
      if (error instanceof ProtocolError) throw error
      throw new ProtocolError(ErrorCode.InternalError, errorBody(RESOURCES, services, error).message)
    })
  server.setRequestHandler(ListResourcesRequestSchema, async (_, extra) => ({
    resources: await told(listResources(services, callOf(extra))),
  }))
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({ resourceTemplates }))
  server.setRequestHandler(ReadResourceRequestSchema, ({ params }, extra) => told(readResource(services, callOf(extra), params.uri)))
  server.setRequestHandler(ListPromptsRequestSchema, () => ({ prompts }))
  server.setRequestHandler(GetPromptRequestSchema, ({ params }) => promptOf(params.name, params.arguments))
  server.setRequestHandler(CompleteRequestSchema, async ({ params }, extra) => ({
    completion: await told(completionOf(services, callOf(extra), params.ref, params.argument)),
  }))
}

const RESOURCES = { name: 'resources', effect: 'read', refuses: [] } as const
