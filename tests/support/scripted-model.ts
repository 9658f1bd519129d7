// A stand-in for the model behind Claude Code: Anthropic's Messages API, as far as the program uses it, with a script in place of thoughts.

/** A tool that the model calls next; text where it ends its turn, behind a thought if it has one. */
export type Move = { name: string; input: object } | { thought: string; text: string } | string

/** One request to it: the tools that it is shown, and the results that it has had so far. */
export interface Asked {
  tools: string[]
  /** All that the program tells it, as JSON. */
  told: string
  results: unknown[]
}

export type Maker = (results: any[]) => Move | Promise<Move>

export interface ScriptedModel {
  url: string
  /** Every request, in order. */
  asked: Asked[]
  stop(): Promise<void>
}

/** Plays the moves one after the other: each is made from the results of those before it. Requests without tools (a title, a summary) are
 *  answered with a word and not counted. */
export const startScriptedModel = (moves: Maker[]): ScriptedModel => {
  const asked: Asked[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      if (!new URL(request.url).pathname.endsWith('/v1/messages')) return Response.json({ input_tokens: 1 })
      const body = (await request.json()) as Body
      const results = resultsIn(body)
      if (!body.tools?.length) return answer(body, 'OK', 0)
      asked.push({ tools: body.tools.map(({ name }) => name), told: JSON.stringify([body.system, body.messages]), results })
      return answer(body, (await moves[results.length]?.(results)) ?? 'Done.', results.length)
    },
  })
  return { url: `http://127.0.0.1:${server.port}`, asked, stop: () => server.stop(true) }
}

interface Block {
  type: string
  content?: string | { text?: string }[]
}
interface Body {
  model: string
  stream?: boolean
  system?: unknown
  tools?: { name: string }[]
  messages: { content: string | Block[] }[]
}

const resultsIn = ({ messages }: Body): unknown[] =>
  messages
    .flatMap(({ content }) => (typeof content === 'string' ? [] : content))
    .filter(({ type }) => type === 'tool_result')
    .map(({ content = '' }) => parsed(typeof content === 'string' ? content : content.map(({ text = '' }) => text).join('')))

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const USAGE = { input_tokens: 1, output_tokens: 1, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 }

const answer = ({ model, stream }: Body, move: Move, n: number): Response => {
  const stop_reason = typeof move === 'object' && 'name' in move ? 'tool_use' : 'end_turn'
  const blocks = blocksOf(move, n)
  const message = {
    id: `msg_${n}`,
    type: 'message',
    role: 'assistant',
    model,
    content: blocks.map(({ whole }) => whole),
    stop_reason,
    stop_sequence: null,
    usage: USAGE,
  }
  if (!stream) return Response.json(message)
  const events = [
    { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
    ...blocks.flatMap(({ begun, deltas }, index) => [
      { type: 'content_block_start', index, content_block: begun },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 1 } },
    { type: 'message_stop' },
  ]
  const body = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}

interface Streamed {
  whole: object
  begun: object
  deltas: object[]
}

const blocksOf = (move: Move, n: number): Streamed[] => {
  if (typeof move === 'string') return [textBlock(move)]
  if ('thought' in move) return [thoughtBlock(move.thought), textBlock(move.text)]
  const call = { type: 'tool_use', id: `toolu_${n}`, ...move }
  return [
    {
      whole: call,
      begun: { ...call, input: {} },
      deltas: [{ type: 'input_json_delta', partial_json: JSON.stringify(move.input) }],
    },
  ]
}

const textBlock = (text: string): Streamed => ({
  whole: { type: 'text', text },
  begun: { type: 'text', text: '' },
  deltas: [{ type: 'text_delta', text }],
})

const thoughtBlock = (thinking: string): Streamed => ({
  whole: { type: 'thinking', thinking, signature: 'c2lnbmVk' },
  begun: { type: 'thinking', thinking: '', signature: '' },
  deltas: [
    { type: 'thinking_delta', thinking },
    { type: 'signature_delta', signature: 'c2lnbmVk' },
  ],
})
