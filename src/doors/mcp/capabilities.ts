// MCP's resources, prompts and completions, which clients offer to people rather than to the model.
import type { Server } from '@modelcontextprotocol/sdk/server/index.js'
import {
  CompleteRequestSchema,
  ErrorCode,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ReadResourceRequestSchema,
  type CompleteRequest,
  type GetPromptResult,
  type RequestId,
} from '@modelcontextprotocol/sdk/types.js'
import { redacted } from '../../core/text/text.ts'
import type { Call } from '../../operations/call.ts'
import type { Completion, Offers, Prompt } from '../../operations/offers.ts'
import { errorBody } from '../../operations/perform.ts'
import type { Services } from '../../process/services.ts'
import type { RequestTransport } from './transport.ts'
import { invalidParams, ProtocolError, RESOURCE_NOT_FOUND } from './errors.ts'

/** Serves what these toolsets offer. */
export const serveOffers = (server: Server, transport: RequestTransport<Call>, services: Services, offers: readonly Offers[]) => {
  const callerOf = ({ requestId }: { requestId: RequestId }) => transport.callerOf(requestId)
  // The SDK sends the client the message of any error: one that is not meant for it is logged and replaced.
  const guarded = <Result>(work: Promise<Result>): Promise<Result> =>
    work.catch((error) => {
      if (error instanceof ProtocolError) throw error
      throw new ProtocolError(ErrorCode.InternalError, errorBody(RESOURCES, services, error).message)
    })
  const prompts = offers.flatMap(({ prompts }) => prompts)
  const resourceTemplates = offers.flatMap(({ templates }) => templates)

  server.setRequestHandler(ListResourcesRequestSchema, async (_, extra) => {
    const lists = await guarded(Promise.all(offers.map(({ list }) => list(services, callerOf(extra)))))
    return { resources: lists.flat() }
  })
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({ resourceTemplates }))
  server.setRequestHandler(ReadResourceRequestSchema, ({ params: { uri } }, extra) => guarded(read(services, callerOf(extra), offers, uri)))
  server.setRequestHandler(ListPromptsRequestSchema, () => ({ prompts: prompts.map(listed) }))
  server.setRequestHandler(GetPromptRequestSchema, ({ params }) => filledIn(prompts, params.name, params.arguments))
  server.setRequestHandler(CompleteRequestSchema, async ({ params: { ref, argument } }, extra) => {
    const complete = completionFor(offers, ref, argument.name)
    return { completion: complete ? await guarded(complete(services, callerOf(extra), argument.value)) : { values: [] } }
  })
}

const RESOURCES = { id: 'resources', effect: 'read', refuses: [] } as const

// Unknown and forbidden give the same error, so that nobody can probe for sessions.
const read = async (services: Services, call: Call, offers: readonly Offers[], uri: string) => {
  for (const { read } of offers) {
    const found = await read(services, call, uri)
    if (found) return { contents: [{ uri, ...found }] }
  }
  throw new ProtocolError(
    RESOURCE_NOT_FOUND,
    'There is no such resource, or you may not read it: send the X-Team-ID header of a team of that session.',
    { uri: redacted(uri) },
  )
}

const listed = ({ name, description, arguments: given }: Prompt) => ({
  name,
  description,
  arguments: given.map(({ complete: _, ...argument }) => argument),
})

const LONGEST = 4_000

// A prompt with its arguments filled in, as a message of the person.
const filledIn = (prompts: readonly Prompt[], name: string, given: Record<string, string> = {}): GetPromptResult => {
  const prompt = prompts.find((one) => one.name === name) ?? invalidParams('There is no such prompt. prompts/list has the names.')
  for (const { name: field, required } of prompt.arguments) {
    if (required && !given[field]?.trim()) invalidParams(`The prompt ${name} needs ${field}.`)
    if ((given[field]?.length ?? 0) > LONGEST) invalidParams(`${field} may have at most ${LONGEST} characters.`)
  }
  return { description: prompt.description, messages: [{ role: 'user', content: { type: 'text', text: prompt.text(given) } }] }
}

// How the argument of a prompt or the variable of a resource's template is completed; undefined where there is nothing to offer.
const completionFor = (offers: readonly Offers[], ref: CompleteRequest['params']['ref'], name: string): Completion | undefined => {
  if (ref.type === 'ref/resource') {
    const offering = offers.find(({ templates }) => templates.some(({ uriTemplate }) => uriTemplate === ref.uri))
    return offering && Object.hasOwn(offering.completions, name) ? offering.completions[name] : undefined
  }
  const prompt = offers.flatMap(({ prompts }) => prompts).find((one) => one.name === ref.name)
  return prompt?.arguments.find((argument) => argument.name === name)?.complete
}
