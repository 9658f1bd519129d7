// GET /parley-VERSION.tgz: the program `parley` as an npm package, which npx runs. The package names the hub, so there is one for each link
// in force; its version is in the path, because npx goes on using what it once had under one URL.
import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { Hono } from 'hono'
import { LRUCache } from 'lru-cache'
import { refuse } from '../../core/errors.ts'
import { tarOf } from '../../core/tar.ts'
import type { Services } from '../../process/services.ts'
import manifest from '../../../package.json' with { type: 'json' }
import { GUARDED, methodNotAllowed, type Env } from '../http/http.ts'
import { linkInForce } from '../http/origin.ts'

/** The built program and the licences of the libraries in it (components/styles.ts). */
export interface ClientProgram {
  bytes: Uint8Array
  licences: Uint8Array
  version: string
}

const LINKS_KEPT = 100 // callers choose the Host, and with it the link

/** The program that was built, if it was; `read` reads a file of public/. */
export const readClientProgram = async (read: (path: string) => Promise<Response | undefined>): Promise<ClientProgram | undefined> => {
  const [program, texts] = await Promise.all([read('client.mjs'), read('client.LICENSES.txt')])
  if (!program || !texts) return undefined
  const [bytes, licences] = [await program.bytes(), await texts.bytes()]
  const hash = createHash('sha256').update(bytes).update(licences).digest('hex').slice(0, 8)
  return { bytes, licences, version: `${manifest.version}-b${hash}` }
}

/** Where the program is served, below the base URL. */
export const programPath = ({ version }: ClientProgram): string => `/parley-${version}.tgz`

/** 404 for another version than the one that there is, with that one's path. */
export const clientRoute = (services: Services, program: ClientProgram | undefined) => {
  const packages = new LRUCache<string, Uint8Array<ArrayBuffer>>({ max: LINKS_KEPT })
  const app = new Hono<Env>()
  return app.all('/:file{parley-[^/]+\\.tgz}', (c) => {
    if (c.req.method !== 'GET' && c.req.method !== 'HEAD') return methodNotAllowed(['GET', 'HEAD'])
    if (!program) return refuse('not_found', 'This server was started without the program `parley`. `bun run start` builds it.')
    const path = programPath(program)
    if (c.req.path !== path) return refuse('not_found', `The program parley is at ${path} now.`, { path })
    const link = linkInForce(c, services).url
    const bytes = packages.get(link) ?? packageFor(link, program)
    packages.set(link, bytes)
    const etag = `"${createHash('sha256').update(bytes).digest('hex').slice(0, 16)}"`
    const headers = { ...GUARDED, etag, 'cache-control': 'no-cache' }
    if (c.req.header('if-none-match') === etag) return new Response(null, { status: 304, headers })
    return new Response(bytes, { headers: { ...headers, 'content-type': 'application/gzip', 'content-length': String(bytes.length) } })
  })
}

const packageFor = (link: string, { bytes, licences, version }: ClientProgram): Uint8Array<ArrayBuffer> => {
  const about = {
    name: 'parley',
    version,
    description: 'Brings agents into a Parley hub, and wakes them when somebody speaks to them.',
    type: 'module',
    bin: { parley: 'parley.mjs' },
    engines: { node: '>=20' },
    parley: { link },
  }
  const archive = tarOf([
    { path: 'package/package.json', bytes: new TextEncoder().encode(`${JSON.stringify(about, null, 2)}\n`) },
    { path: 'package/parley.mjs', bytes, executable: true },
    { path: 'package/LICENSES.txt', bytes: licences },
  ])
  const packed = gzipSync(archive, { level: 9 })
  packed[OS_AT] = OS_UNKNOWN
  return new Uint8Array(packed)
}
const OS_AT = 9 // of gzip's header: the system that packed it, which must not matter
const OS_UNKNOWN = 255
