// Sends a transcript to a hub.
import { open } from 'node:fs/promises'
import { basename } from 'node:path'
import { baseOfLink } from '../../core/address.ts'
import { Refusal, type ErrorCode } from '../../core/errors.ts'
import { FileFailed, ImportFailed, type ImportFile, type ImportReport } from './run.ts'

/** Sends the file to any server, by POST /api/traces. */
export const toServer =
  (url: string, accessToken: string | undefined): ImportFile =>
  async ({ path }, onProgress) => {
    const to = new URL(`${baseOfLink(url)}/api/traces`)
    to.searchParams.set('name', basename(path))
    const headers = { 'content-type': 'application/x-ndjson', ...(accessToken && { authorization: `Bearer ${accessToken}` }) }
    const { body, failure } = await bodyOf(path, onProgress)
    const sending = { method: 'POST', headers, body, duplex: 'half' } as RequestInit
    const response = await fetch(to, sending).catch((error) => {
      const unread = failure()
      throw unread ? new FileFailed(unread.message) : new ImportFailed(`${url} could not be reached (${causeOf(error)}). ${AGAIN}`)
    })
    const answer = (await response.json().catch(() => undefined)) as (ErrorResponse & ImportReport) | undefined
    if (response.ok && answer) return answer
    if (answer?.error?.code === 'unauthorized') throw lockedOut(to.origin, accessToken, answer.error.message)
    if (answer?.error) throw new Refusal(answer.error.code, answer.error.message)
    throw notUnderstood(to.origin, response.status)
  }

const AGAIN = 'What was sent before is kept: run the command again to continue.'

const causeOf = ({ cause, code, message }: Error & { cause?: { code?: string }; code?: string }) => cause?.code ?? code ?? message

// A server that refuses the token refuses it with every other file too.
const lockedOut = (origin: string, token: string | undefined, message: string): Error =>
  new ImportFailed(
    `${origin} ${token ? 'does not take this access token' : 'needs its access token'}. It says: ${message} Put the right one into PARLEY_TOKEN (in a checkout ACCESS_TOKEN), and run this again.`,
  )

// Parley says in each refusal what is wrong: this is the answer of a proxy before it, or of another program.
const notUnderstood = (origin: string, status: number): Error => {
  if (status === 502 || status === 503)
    return new ImportFailed(`${origin} answered ${status}: the proxy there does not reach Parley. ${AGAIN}`)
  if (status === 413)
    return new FileFailed(`${origin} answered 413: the proxy there takes no file as large as this one (nginx: client_max_body_size).`)
  return new FileFailed(`${origin} answered ${status}, and not as Parley does. Is it a proxy that gave up, or another program?`)
}

/** The file as a body; `failure` is the error that reading it ended with, which is none of the connection's. */
const bodyOf = async (path: string, onProgress: (bytes: number) => void) => {
  const file = await open(path)
  const chunks = file.createReadStream({ highWaterMark: 1024 * 1024 })[Symbol.asyncIterator]()
  let sent = 0
  let failed: Error | undefined
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await chunks.next().catch((error) => {
        throw (failed = error)
      })
      if (done) return controller.close()
      controller.enqueue(value as Uint8Array)
      onProgress((sent += (value as Uint8Array).length))
    },
    cancel: () => void chunks.return?.(),
  })
  return { body, failure: () => failed }
}

interface ErrorResponse {
  error?: { code: ErrorCode; message: string }
}
