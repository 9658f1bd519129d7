// A stand-in for the model behind Gemini CLI: Google's API, as far as the program uses it, with a script in place of thoughts.

/** A part of the model's answer: text, a thought, or a call of a tool. */
export type Part = { text: string; thought?: boolean } | { functionCall: { name: string; args: object } }

export interface ScriptedGemini {
  /** Has Gemini CLI take the stand-in for its model. */
  env: Record<string, string>
  /** The requests with tools, in order. */
  asked: { tools: string[]; told: string }[]
  stop(): Promise<void>
}

/** Plays the moves one after the other. Requests without tools (which model to take, a title) are not counted. */
export const startScriptedGemini = (moves: (() => Part[] | Promise<Part[]>)[]): ScriptedGemini => {
  const asked: ScriptedGemini['asked'] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url)
      if (!/:(?:streamG|g)enerateContent$/.test(pathname)) return Response.json({ totalTokens: 1 })
      const { tools = [], contents, systemInstruction } = (await request.json()) as any
      const names = tools.flatMap(({ functionDeclarations = [] }: any) => functionDeclarations.map(({ name }: any) => name))
      if (names.length === 0) return answer([{ text: '{}' }], pathname)
      asked.push({ tools: names, told: JSON.stringify([systemInstruction, contents]) })
      return answer((await moves[asked.length - 1]?.()) ?? [{ text: 'Done.' }], pathname)
    },
  })
  const url = `http://127.0.0.1:${server.port}`
  return { env: { GEMINI_API_KEY: 'x', GOOGLE_GEMINI_BASE_URL: url }, asked, stop: () => server.stop(true) }
}

const answer = (parts: Part[], pathname: string): Response => {
  const whole = {
    candidates: [{ index: 0, content: { role: 'model', parts }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
    modelVersion: 'scripted',
  }
  if (!pathname.endsWith(':streamGenerateContent')) return Response.json(whole)
  return new Response(`data: ${JSON.stringify(whole)}\n\n`, { headers: { 'content-type': 'text/event-stream' } })
}
