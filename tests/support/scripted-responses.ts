// A stand-in for the model behind Codex: OpenAI's Responses API, as far as the program uses it, with a script in place of thoughts.

/** An item of the model's answer: a call of a tool, or a message, which ends its turn. */
export type Item = { type: string; [field: string]: unknown }

export interface ScriptedResponses {
  /** What goes into Codex' configuration, for it to take the stand-in for its model. */
  config: string
  port: number
  /** What it was sent, in order. */
  asked: { input: any[]; tools: any[]; told: string }[]
  stop(): Promise<void>
}

/** Plays the moves one after the other, one for each request. */
export const startScriptedResponses = (moves: ((asked: any) => Item[] | Promise<Item[]>)[]): ScriptedResponses => {
  const asked: ScriptedResponses['asked'] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      if (request.method !== 'POST' || !new URL(request.url).pathname.endsWith('/responses'))
        return Response.json({ object: 'list', data: [], models: [] })
      const { input, tools = [], instructions } = (await request.json()) as any
      const now = { input, tools, told: JSON.stringify([instructions, input]) }
      asked.push(now)
      return answered(...((await moves[asked.length - 1]?.(now)) ?? [message('Done.')]))
    },
  })
  const provider = `[model_providers.script]\nname = "script"\nbase_url = "http://127.0.0.1:${server.port}/v1"\nwire_api = "responses"\n`
  const config = `model = "gpt-5"\nmodel_provider = "script"\n\n${provider}`
  return { config, port: server.port!, asked, stop: () => server.stop(true) }
}

let count = 0

export const message = (text: string): Item => ({
  type: 'message',
  id: `m_${++count}`,
  role: 'assistant',
  content: [{ type: 'output_text', text }],
})

export const thought = (text: string): Item => ({
  type: 'reasoning',
  id: `r_${++count}`,
  summary: [{ type: 'summary_text', text }],
  content: null,
  encrypted_content: null,
})

export const call = (name: string, args: object): Item => ({
  type: 'function_call',
  id: `fc_${++count}`,
  call_id: `call_${count}`,
  name,
  arguments: JSON.stringify(args),
})

/** The stream of one answer. */
export const answered = (...items: object[]): Response => {
  const usage = { input_tokens: 1, input_tokens_details: null, output_tokens: 1, output_tokens_details: null, total_tokens: 2 }
  const events = [
    { type: 'response.created', response: { id: 'r' } },
    ...items.map((item, output_index) => ({ type: 'response.output_item.done', output_index, item })),
    { type: 'response.completed', response: { id: 'r', object: 'response', status: 'completed', output: items, usage } },
  ]
  const body = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}
