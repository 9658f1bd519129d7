// A server as its callers reach it, with every byte that it sends kept, so that a credential can be looked for in all of them.
import { expect } from 'bun:test'
import { findCredentials } from './credential-scan.ts'
import { clientsOf, type Sending, type Served } from './parley.ts'

interface Answer {
  to: string // what was asked
  chunks: (string | Uint8Array)[]
}

export type Recorded = ReturnType<typeof recordedAt>

/** `served`: for calls by REST and MCP (viaRest, viaMcp). */
export const recordedAt = (url: string) => {
  const answers: Answer[] = []
  const credentials = new Map<string, { secret: string; toldIn: Set<Answer> }>()

  const record = async (request: Request): Promise<Response> => {
    const response = await fetch(request)
    const answer: Answer = { to: `${request.method} ${new URL(request.url).pathname}`, chunks: [JSON.stringify([...response.headers])] }
    answers.push(answer)
    const { status, headers } = response
    if (!response.body) return response
    const kept = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, through) {
        answer.chunks.push(chunk)
        through.enqueue(chunk)
      },
    })
    return new Response(response.body.pipeThrough(kept), { status, headers })
  }
  const send = (path: string, { method, headers, address: _, ...rest }: Sending = {}) =>
    record(
      new Request(`${url}${path}`, {
        method: method ?? (rest.body === undefined ? 'GET' : 'POST'),
        headers: { ...headers },
        redirect: 'manual',
        signal: AbortSignal.timeout(60_000),
        ...rest,
      }),
    )
  const { client, disconnect } = clientsOf((request) => record(new Request(request.url.replace(/^http:\/\/[^/]+/, url), request)))

  /** This is secret from now on. One that the server has just told: the answer that told it is the one place where it may stand. */
  const isSecret = (name: string, secret: string, told = true) => {
    const tellers = answers.filter(({ chunks }) => findCredentials(chunks, [secret]).length > 0)
    expect([name, tellers.map(({ to }) => to)]).toEqual([name, told ? [expect.any(String)] : []])
    credentials.set(name, { secret, toldIn: new Set(tellers) })
    return secret
  }
  /** The last answer may have it too. */
  const maySay = (name: string) => void credentials.get(name)!.toldIn.add(answers.at(-1)!)
  /** The names of the secrets in these bytes. */
  const secretsIn = (chunks: Answer['chunks'], but: (name: string) => boolean = () => false): string[] => {
    const looked = [...credentials.keys()].filter((name) => !but(name))
    const found = findCredentials(chunks, looked.map((name) => credentials.get(name)!.secret)) // prettier-ignore
    return [...new Set(found.map(({ credential }) => looked[credential]!))]
  }
  /** What was said to whom although it is secret. */
  const leaks = () =>
    answers.flatMap((answer) =>
      secretsIn(answer.chunks, (name) => credentials.get(name)!.toldIn.has(answer)).map((secret) => `${answer.to}: ${secret}`),
    )
  const text = () => answers.map(({ chunks }) => Buffer.concat(chunks.map((chunk) => Buffer.from(chunk))).toString()).join('\n')
  return {
    served: { send, client } as unknown as Served,
    send,
    disconnect,
    isSecret,
    maySay,
    secretsIn,
    leaks,
    text,
    names: () => [...credentials.keys()],
  }
}
