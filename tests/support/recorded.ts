// A server as its callers reach it. Every byte that it sends is kept, with whom it was sent to, so that credentials can be looked for in it.
import { expect } from 'bun:test'
import { findCredentials } from './credential-scan.ts'
import { clientsOf, type Sending, type Served } from './parley.ts'

interface Sent {
  /** The names of the credentials that the request brought. */
  to: string
  what: string
  chunks: (string | Uint8Array)[]
}
interface Credential {
  secret: string
  /** The answers that handed it to its owner. */
  told: Set<Sent>
}

const PATIENCE_MS = 170_000 // for what hangs
const IDS = /[0-9a-f]{8}-[0-9a-f-]{27}(\.[\w-]{32})?/g

/** `served`: for calls by REST and MCP (viaRest, viaMcp). */
export const recordedAt = (url: string) => {
  const sent: Sent[] = []
  const credentials = new Map<string, Credential>()

  /** The names of the credentials in these bytes. */
  const secretsIn = (chunks: Sent['chunks'], names = [...credentials.keys()]): string[] => {
    const found = findCredentials(chunks, names.map((name) => credentials.get(name)!.secret)) // prettier-ignore
    return [...new Set(found.map(({ credential }) => names[credential]!))]
  }

  const record = async (request: Request): Promise<Response> => {
    const brought = [request.url, JSON.stringify([...request.headers]), await request.clone().text()]
    const answer: Sent = {
      to: secretsIn(brought).join(' + ') || 'anybody',
      what: `${request.method} ${new URL(request.url).pathname.replace(IDS, 'ID')}`,
      chunks: [],
    }
    const response = await fetch(request)
    sent.push(answer)
    answer.chunks.push(`${JSON.stringify([...response.headers])}\n`)
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
        signal: AbortSignal.timeout(PATIENCE_MS),
        ...rest,
      }),
    )
  const { client, disconnect } = clientsOf((request) => record(new Request(request.url.replace(/^http:\/\/[^/]+/, url), request)))

  /** This is a credential from now on. Whatever has said it until now was meant to: `tellers` says what that was. */
  const isSecret = (name: string, secret: string): string => {
    expect(credentials.has(name), name).toBe(false)
    credentials.set(name, { secret, told: new Set(sent.filter(({ chunks }) => findCredentials(chunks, [secret]).length > 0)) })
    return secret
  }
  /** The last answer hands it out as well. */
  const isTold = (name: string) => void credentials.get(name)!.told.add(sent.at(-1)!)
  /** Which answers handed each credential to its owner. */
  const tellers = () => Object.fromEntries([...credentials].map(([name, { told }]) => [name, [...told].map(({ what }) => what)]))
  /** What was said to whom of a credential, beside that. */
  const leaks = () =>
    sent.flatMap((answer) => {
      const looked = [...credentials].flatMap(([name, { told }]) => (told.has(answer) ? [] : [name]))
      return secretsIn(answer.chunks, looked).map((secret) => `${answer.what} to ${answer.to}: ${secret}`)
    })
  /** All that was answered to such requests, as `tellers` names them. */
  const textOf = (what: string) => {
    const chunks = sent.flatMap((answer) => (answer.what === what ? answer.chunks : []))
    return Buffer.concat(chunks.map((chunk) => Buffer.from(chunk))).toString()
  }
  return { served: { send, client } as unknown as Served, send, disconnect, isSecret, isTold, secretsIn, tellers, leaks, textOf }
}
