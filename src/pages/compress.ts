// What browsers load, compressed.
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Http } from '../doors/http/http.ts'

/** In order of preference: what makes the smallest bodies comes first. Browsers take brotli over https and on their own machine alone. */
const ENCODINGS = ['br', 'gzip'] as const
export type Encoding = (typeof ENCODINGS)[number]

export interface Packed {
  encoding: Encoding
  bytes: Uint8Array<ArrayBuffer>
}

/** A body that is compressed for one response, or once for as long as the server runs. */
export type Effort = 'in passing' | 'once'

// In passing, brotli costs half a millisecond for the page with 100 messages (106 KB), gzip half of that; brotli's body has 7.9 KB (8.4 at
// level 4, for a tenth less time), gzip's 9.9.
const LEVELS: Record<Encoding, Record<Effort, number>> = {
  br: { 'in passing': 5, once: constants.BROTLI_MAX_QUALITY },
  gzip: { 'in passing': 5, once: constants.Z_BEST_COMPRESSION },
}

const [brotliAsync, gzipAsync] = [promisify(brotliCompress), promisify(gzip)]

export const pack = async (body: string | Uint8Array, encoding: Encoding, effort: Effort = 'in passing'): Promise<Packed> => {
  const level = LEVELS[encoding][effort]
  const bytes =
    encoding === 'br' ? await brotliAsync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: level } }) : await gzipAsync(body, { level })
  return { encoding, bytes: new Uint8Array(bytes) }
}

/** The best encoding that the browser takes. */
export const encodingFor = (c: Http): Encoding | undefined => ENCODINGS.find((name) => takes(c, name))

export const takes = (c: Http, encoding: Encoding): boolean => new RegExp(`\\b${encoding}\\b`).test(c.req.header('accept-encoding') ?? '')
