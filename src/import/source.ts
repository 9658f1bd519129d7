// Where the bytes of a transcript come from: a file, which can be read on from the middle, or the body of a request, which cannot.
import { createHash } from 'node:crypto'
import { createReadStream, statSync } from 'node:fs'
import { basename } from 'node:path'
import { refuse } from '../core/errors.ts'

export interface Source {
  name: string
  size: number | undefined
  /** The bytes from this one on. Asked at most twice, the second time only if `again`. */
  read(from: number): AsyncIterable<Uint8Array>
  again: boolean
}

const CHUNK = 128 * 1024

export const fileSource = (path: string, told: (bytes: number) => void = () => {}): Source => ({
  name: basename(path),
  size: statSync(path).size,
  again: true,
  async *read(from) {
    let at = from
    for await (const chunk of createReadStream(path, { start: from, highWaterMark: CHUNK })) {
      yield chunk as Buffer
      told((at += (chunk as Buffer).length))
    }
  },
})

/** The body of a request. Past `limit` bytes it is refused; what came before is imported. */
export const bodySource = (body: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array> | null, name: string, limit: number): Source => ({
  name,
  size: undefined,
  again: false,
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

export interface Hashing {
  chunks: AsyncIterable<Uint8Array>
  /** Reads what its reader did not need, and says what the hash of all is. */
  digest(): Promise<string>
  /** Reads no more. */
  cancel(): Promise<void> | undefined
}

/** A body that is hashed while it is read. `about` is a part of the hash; past `limit` nothing is read. */
export const hashing = (body: ReadableStream<Uint8Array> | null, limit: number, about: string): Hashing => {
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

/** A stream whose beginning can be looked at before it is read. */
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
    /** All of it, what was looked at included. */
    async *whole() {
      while (begun.length > 0) yield begun.shift()!
      for (let next = await stream.next(); !next.done; next = await stream.next()) yield next.value
    },
    end: () => stream.return?.(),
  }
}

/** Leaves out the first bytes. */
export async function* skip(chunks: AsyncIterable<Uint8Array>, bytes: number) {
  let left = bytes
  for await (const chunk of chunks) {
    if (chunk.length > left) yield left === 0 ? chunk : chunk.subarray(left)
    left = Math.max(0, left - chunk.length)
  }
}

/** What is kept of the last bytes that were read, to know them again. */
export const tailOf = (bytes: Uint8Array) =>
  bytes.length === 0 ? '' : `${bytes.length}:${createHash('sha256').update(bytes).digest('hex')}`
export const tailLength = (tail: string) => Number(tail.split(':', 1)[0] || 0)
