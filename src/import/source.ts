// The bytes of a transcript: from a file, which can be read from the middle, or from a request's body, which cannot.
import { createHash } from 'node:crypto'
import { createReadStream, statSync } from 'node:fs'
import { basename } from 'node:path'
import { refuse } from '../core/errors.ts'

export interface TranscriptSource {
  name: string
  size: number | undefined
  /** The bytes from this one on. Called at most twice, a second time only if `rereadable`. */
  read(from: number): AsyncIterable<Uint8Array>
  rereadable: boolean
}

const CHUNK = 128 * 1024

export const fileSource = (path: string, onProgress: (bytes: number) => void = () => {}): TranscriptSource => ({
  name: basename(path),
  size: statSync(path).size,
  rereadable: true,
  async *read(from) {
    let at = from
    for await (const chunk of createReadStream(path, { start: from, highWaterMark: CHUNK })) {
      yield chunk as Buffer
      onProgress((at += (chunk as Buffer).length))
    }
  },
})

/** The body of a request. Past `limit` bytes it is refused, but what came before is imported. */
export const bodySource = (
  body: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array> | null,
  name: string,
  limit: number,
): TranscriptSource => ({
  name,
  size: undefined,
  rereadable: false,
  async *read() {
    let bytes = 0
    for await (const chunk of (body ?? []) as unknown as AsyncIterable<Uint8Array>) {
      if ((bytes += chunk.length) > limit) refuseTooLong(limit)
      yield chunk
    }
  },
})

export const refuseTooLong = (limit: number): never =>
  refuse('payload_too_large', `A transcript may have at most ${limit} bytes here (MAX_TRACE_BYTES).`, { limit_bytes: limit })

export interface HashedBody {
  chunks: AsyncIterable<Uint8Array>
  /** The hash of the whole body; reads what its reader left. */
  digest(): Promise<string>
  /** Stops reading. */
  cancel(): Promise<void> | undefined
}

/** A body that is hashed while it is read. `about` is hashed too; past `limit` bytes nothing more is read. */
export const hashedBody = (body: ReadableStream<Uint8Array> | null, limit: number, about: string): HashedBody => {
  const hash = createHash('sha256').update(`${about}\n`)
  const reader = body?.getReader()
  let bytes = 0
  const next = async () => {
    const { value } = (await reader?.read()) ?? {}
    bytes += value?.length ?? 0
    if (value) hash.update(value)
    return value
  }
  const read = async function* () {
    for (let chunk = await next(); chunk; chunk = await next()) yield chunk
  }
  const digest = async () => {
    while (bytes <= limit && (await next()));
    return hash.digest('hex')
  }
  return { chunks: read(), digest, cancel: () => reader?.cancel() }
}

/** A stream of which the beginning can be read first, and then all of it. */
export const peekable = (chunks: AsyncIterable<Uint8Array>) => {
  const stream = chunks[Symbol.asyncIterator]()
  const begun: Uint8Array[] = []
  let size = 0
  return {
    /** The first bytes, or fewer if there are no more. */
    async head(bytes: number) {
      while (size < bytes) {
        const { value, done } = await stream.next()
        if (done) break
        begun.push(value)
        size += value.length
      }
      return Buffer.concat(begun).subarray(0, bytes)
    },
    /** The whole stream, its head included. */
    async *whole() {
      while (begun.length > 0) yield begun.shift()!
      for (let next = await stream.next(); !next.done; next = await stream.next()) yield next.value
    },
    end: () => stream.return?.(),
  }
}

/** The stream without its first bytes. */
export async function* skip(chunks: AsyncIterable<Uint8Array>, bytes: number) {
  let left = bytes
  for await (const chunk of chunks) {
    if (chunk.length > left) yield left === 0 ? chunk : chunk.subarray(left)
    left = Math.max(0, left - chunk.length)
  }
}

/** A fingerprint of the last bytes that were read: their length and hash. */
export const tailOf = (bytes: Uint8Array) =>
  bytes.length === 0 ? '' : `${bytes.length}:${createHash('sha256').update(bytes).digest('hex')}`
export const tailLength = (tail: string) => Number(tail.split(':', 1)[0] || 0)
