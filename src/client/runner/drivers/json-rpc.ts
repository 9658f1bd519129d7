// JSON-RPC 2.0 by lines with a CLI: both sides call.
import { isObject, objectOr, textOr, wordOf, type Json } from '../../../transcripts/json.ts'
import { startCli, type Cli, type Gone } from './cli.ts'
import type { Job, Spawn } from './driver.ts'

/** An error that the other side answered with; `code` is JSON-RPC's. */
export class RpcError extends Error {
  constructor(
    message: string,
    readonly code: number | undefined,
  ) {
    super(message)
  }
}

/** What the CLI does of its own accord. */
export interface Hearing {
  notified(method: string, params: Json): void
  /** Answers a call. What it throws is answered as an error. */
  called(method: string, params: Json): Promise<object>
  /** A line that is no message. */
  text(line: string): void
}

export interface Peer extends Pick<Cli, 'finish' | 'gone'> {
  /** Resolves with the result. Rejects with the other side's error, or once the CLI is gone. */
  call(method: string, params: object): Promise<Json>
  notify(method: string, params?: object): void
}

export const METHOD_NOT_FOUND = -32_601

export const startPeer = (spawn: Spawn, command: readonly string[], job: Job, hearing: Hearing): Peer => {
  const waiting = new Map<number, { resolve: (result: Json) => void; reject: (error: Error) => void }>()
  let count = 0
  const answer = async (id: unknown, method: string, params: Json) => {
    try {
      send({ id, result: await hearing.called(method, params) })
    } catch (error) {
      const code = error instanceof RpcError ? error.code : undefined
      send({ id, error: { code: code ?? -32_603, message: error instanceof Error ? error.message : String(error) } })
    }
  }
  const record = (message: Json) => {
    const { id, method } = message
    if (typeof method === 'string' && id !== undefined) return void answer(id, method, objectOr(message.params))
    if (typeof method === 'string') return hearing.notified(method, objectOr(message.params))
    const call = typeof id === 'number' ? waiting.get(id) : undefined
    if (call === undefined) return hearing.text(JSON.stringify(message))
    waiting.delete(id as number)
    if (isObject(message.error)) call.reject(errorOf(message.error))
    else call.resolve(objectOr(message.result))
  }
  const cli = startCli(spawn, command, job, { record, text: hearing.text })
  const send = (message: object) => cli.send({ jsonrpc: '2.0', ...message })
  let gone: Gone | undefined
  void cli.gone.then((how) => {
    gone = how
    for (const { reject } of waiting.values()) reject(lost(how))
    waiting.clear()
  })
  return {
    finish: cli.finish,
    gone: cli.gone,
    notify: (method, params = {}) => send({ method, params }),
    call: (method, params) =>
      new Promise((resolve, reject) => {
        if (gone) return reject(lost(gone))
        const id = ++count
        waiting.set(id, { resolve, reject })
        send({ id, method, params })
      }),
  }
}

const lost = ({ how }: Gone) => new RpcError(`It ${how}.`, undefined)

// Some put what went wrong into `data` and leave "Internal error" for the message.
const errorOf = ({ message, code, data }: Json): RpcError => {
  const detail = textOr(data) ?? textOr(objectOr(data).details) ?? textOr(objectOr(data).message)
  return new RpcError([wordOf(message ?? 'error'), detail].filter(Boolean).join(': '), typeof code === 'number' ? code : undefined)
}
