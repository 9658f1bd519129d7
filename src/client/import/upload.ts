// Sends a transcript to a hub.
import { open } from 'node:fs/promises'
import { basename } from 'node:path'
import { baseOfLink } from '../../core/address.ts'
import { Refusal, type ErrorCode } from '../../core/errors.ts'
import { redirectsTo, whyNot } from '../hub.ts'
import { FileFailed, ImportFailed, type ImportFile, type ImportReport } from './run.ts'

/** Sends the file to any server, by POST /api/traces. */
export const toServer =
  (url: string, accessToken: string | undefined): ImportFile =>
  async ({ path }, onProgress) => {
    const to = new URL(`${baseOfLink(url)}/api/traces`)
    to.searchParams.set('name', basename(path))
    const headers = { 'content-type': 'application/x-ndjson', ...(accessToken && { authorization: `Bearer ${accessToken}` }) }
    const { body, failure, close } = await bodyOf(path, onProgress)
    const sending = { method: 'POST', headers, body, duplex: 'half', redirect: 'manual' } as RequestInit
    try {
      const response = await fetch(to, sending).catch((error) => {
        const unread = failure()
        throw unread ? new FileFailed(unread.message) : notReached(url, error)
      })
      return await reportIn(response, url, to.origin, accessToken)
    } finally {
      close()
    }
  }

const reportIn = async (response: Response, url: string, origin: string, accessToken: string | undefined): Promise<ImportReport> => {
  const answer: unknown = await response.json().catch((error) => {
    if (!(error instanceof SyntaxError)) throw notReached(url, error)
  })
  if (response.ok && isReport(answer)) return answer
  const refused = refusalIn(answer)
  if (refused?.code === 'unauthorized') throw lockedOut(origin, accessToken, refused.message)
  throw refused ?? notUnderstood(origin, response)
}

const AGAIN = 'What was sent before is kept: run the command again to continue.'

const notReached = (url: string, error: unknown): Error =>
  new ImportFailed(`${url} is not reached (${whyNot(error)}). Is it running, and is that its address? ${AGAIN}`)

const isReport = (answer: any): answer is ImportReport =>
  typeof answer?.added === 'number' && typeof answer.skipped_count === 'number' && Array.isArray(answer.skipped)

const refusalIn = (answer: any): Refusal | undefined =>
  typeof answer?.error?.message === 'string' ? new Refusal(answer.error.code as ErrorCode, answer.error.message) : undefined

// A server that refuses the token refuses it with every other file too.
const lockedOut = (origin: string, token: string | undefined, message: string): Error =>
  new ImportFailed(
    `${origin} ${token ? 'does not take this access token' : 'needs its access token'}. It says: ${message} Put the right one into PARLEY_TOKEN (in a checkout ACCESS_TOKEN), and run this again.`,
  )

// Parley says in each refusal what is wrong: this is the answer of a proxy before it, or of another program.
const notUnderstood = (origin: string, response: Response): Error => {
  const { ok, status } = response
  const elsewhere = redirectsTo(response, origin)
  if (elsewhere !== undefined) return new ImportFailed(`${origin} redirects to ${elsewhere}. Run this again with the hub's own address.`)
  if (ok || NOWHERE.has(status))
    return new ImportFailed(`Something answers at ${origin} that is not Parley (${status}). Run this again with the hub's own address.`)
  if (status === 502 || status === 503)
    return new ImportFailed(`${origin} answered ${status}: the proxy there does not reach Parley. ${AGAIN}`)
  if (status === 413)
    return new FileFailed(`${origin} answered 413: the proxy there takes no file as large as this one (nginx: client_max_body_size).`)
  return new FileFailed(`${origin} answered ${status}, and not as Parley does: a proxy there may have given up. ${AGAIN}`)
}

// With these another program refuses every file.
const NOWHERE = new Set([401, 404, 405])

/** The file as a body, and `close`, which closes the file however far it was read; `failure` is the error that reading it ended with, which
 *  is none of the connection's. */
const bodyOf = async (path: string, onProgress: (bytes: number) => void) => {
  const stream = (await open(path)).createReadStream({ highWaterMark: 1024 * 1024 })
  const chunks = stream[Symbol.asyncIterator]()
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
    cancel: () => close(),
  })
  const close = () => void stream.destroy()
  return { body, failure: () => failed, close }
}
