// Sends a transcript to a hub.
import { createReadStream } from 'node:fs'
import { basename } from 'node:path'
import { baseOfLink } from '../../core/address.ts'
import { Refusal, type ErrorCode } from '../../core/errors.ts'
import { ImportFailed, type ImportFile, type ImportReport } from './run.ts'

/** Sends the file to any server, by POST /api/traces. */
export const toServer =
  (url: string, accessToken: string | undefined): ImportFile =>
  async ({ path }, onProgress) => {
    const to = new URL(`${baseOfLink(url)}/api/traces`)
    to.searchParams.set('name', basename(path))
    const headers = { 'content-type': 'application/x-ndjson', ...(accessToken && { authorization: `Bearer ${accessToken}` }) }
    const sending = { method: 'POST', headers, body: bodyOf(path, onProgress), duplex: 'half' } as RequestInit
    const response = await fetch(to, sending).catch((error) => notSent(url, error))
    const answer = (await response.json().catch(() => ({}))) as ErrorResponse & ImportReport
    return response.ok ? answer : throwError(answer)
  }

const notSent = (url: string, error: Error & { cause?: { code?: string }; code?: string }): never => {
  const why = error.cause?.code ?? error.code ?? error.message
  throw new ImportFailed(`${url} could not be reached (${why}). What was sent before is kept: run the command again to continue.`)
}

const bodyOf = (path: string, onProgress: (bytes: number) => void) => {
  const chunks = createReadStream(path, { highWaterMark: 1024 * 1024 })[Symbol.asyncIterator]()
  let sent = 0
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await chunks.next()
      if (done) return controller.close()
      controller.enqueue(value as Uint8Array)
      onProgress((sent += (value as Uint8Array).length))
    },
  })
}

export interface ErrorResponse {
  error?: { code: ErrorCode; message: string }
}
export const throwError = ({ error }: ErrorResponse): never => {
  throw error ? new Refusal(error.code, error.message) : new ImportFailed("The server's answer was not understood.")
}
