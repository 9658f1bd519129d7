// The files of public/, or what components/styles.ts made of them in public/built/: read once, compressed once, with their hash in the URL
// so that browsers keep them for good.
import { createHash } from 'node:crypto'
import { SCRIPTS } from '../../components/scripts.ts'
import type { Http } from '../doors/http/http.ts'
import { encodingFor, pack, type Encoding, type Packed } from './compress.ts'

/** Reads a file of public/, by the runtime's means (src/server.ts); undefined when there is none. */
export type ReadAsset = (path: string) => Promise<Response | undefined>

interface Asset {
  hash: string
  type: string
  bytes: Uint8Array<ArrayBuffer>
  /** At the highest compression, from the first request on that takes it: all of them cost 0.15 s of processor time, a sixth of a start.
   *  Undefined for fonts, which are compressed already. */
  compressed: Partial<Record<Encoding, Promise<Packed>>> | undefined
}

export type Assets = ReadonlyMap<string, Asset>

const SCRIPT = 'text/javascript; charset=utf-8'
const STYLES = 'text/css; charset=utf-8'
const TYPES: Record<string, string> = {
  'app.css': STYLES,
  'board.css': STYLES,
  'app.js': SCRIPT,
  ...Object.fromEntries(SCRIPTS.map((name) => [name, SCRIPT])),
  'sw.js': SCRIPT,
  'icon.svg': 'image/svg+xml',
  'geist.woff2': 'font/woff2',
  'geist.LICENSE.txt': 'text/plain; charset=utf-8',
}
const YEAR_S = 31_536_000

export const readAssets = async (read: ReadAsset | undefined): Promise<Assets> => {
  const assets = new Map<string, Asset>()
  for (const [name, type] of Object.entries(TYPES)) {
    const response = (await read?.(`built/${name}`)) ?? (await read?.(name))
    if (response) assets.set(name, assetOf(new Uint8Array(await response.arrayBuffer()), type))
  }
  return assets
}

const assetOf = (bytes: Asset['bytes'], type: string): Asset => ({
  hash: createHash('sha256').update(bytes).digest('hex').slice(0, 12),
  type,
  bytes,
  compressed: type.startsWith('font/') ? undefined : {},
})

/** The URL of an asset, which changes with its bytes. */
export const hrefOf = (assets: Assets, name: string): string => {
  const hash = assets.get(name)?.hash
  return `/public/${name}${hash ? `?v=${hash}` : ''}`
}

/** A file of public/ as a response; undefined when there is none of that name. */
export const assetResponse = async (c: Http, assets: Assets, name: string): Promise<Response | undefined> => {
  const asset = assets.get(name)
  if (!asset) return undefined
  const etag = `"${asset.hash}"`
  const immutable = c.req.query('v') === asset.hash || name === 'geist.woff2' // another font would get another name
  const headers: Record<string, string> = {
    'content-type': asset.type,
    'cache-control': immutable ? `public, max-age=${YEAR_S}, immutable` : 'no-cache',
    etag,
    vary: 'accept-encoding',
  }
  if (c.req.header('if-none-match') === etag) return new Response(null, { status: 304, headers })
  const encoding = asset.compressed && encodingFor(c)
  if (!encoding) return new Response(asset.bytes, { headers })
  const packed = await (asset.compressed![encoding] ??= pack(asset.bytes, encoding, 'once'))
  return new Response(packed.bytes, { headers: { ...headers, 'content-encoding': encoding } })
}
