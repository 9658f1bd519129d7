// A page as a response: rendered, with the headers that let nothing into it but our own, and compressed for those who accept that.
import { getCookie } from 'hono/cookie'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { ReactElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import type { Frame } from '../../components/site/shell.tsx'
import { THEMES } from '../../components/site/theme.ts'
import { redacted } from '../core/text.ts'
import type { Services } from '../process/services.ts'
import { personOf } from '../doors/http/cookies.ts'
import { mayRead } from '../doors/http/guards.ts'
import { bodyFrom, GUARDED, isApi, type Http } from '../doors/http/http.ts'
import { calledScheme } from '../doors/http/origin.ts'
import { moveOldCookies, sharedTokenOf } from '../doors/http/share-link.ts'
import { hrefOf, type Assets } from './assets.ts'

export const THEME_COOKIE = 'parley_theme'

/** What the pages have: the server, and what lies in public/. */
export interface Site {
  services: Services
  assets: Assets
}

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': POLICY,
  'cross-origin-opener-policy': 'same-origin',
  // Others are told nothing. With "no-referrer" our own forms would say `Origin: null`, and on plain http beyond loopback, where browsers
  // send no Sec-Fetch-Site, they could not be told from those of a page of somebody else, and were refused.
  'referrer-policy': 'same-origin',
  vary: 'accept-encoding, cookie',
}
const SMALL = 1_400 // fits into one packet as it is

const packed = promisify(gzip)

/** Renders a page. `headers` come on top. */
export const page = (c: Http, element: ReactElement, status?: ContentfulStatusCode, headers?: Record<string, string>): Promise<Response> =>
  answered(c, `<!doctype html>${renderToStaticMarkup(element)}`, status, headers)

/** Renders a piece of a page, for htmx to put into it. */
export const fragment = (c: Http, element: ReactElement, status?: ContentfulStatusCode): Promise<Response> =>
  answered(c, renderToStaticMarkup(element), status)

/** Markup as an answer, compressed for those who accept that. */
export const answered = async (c: Http, html: string, status: ContentfulStatusCode = 200, headers: Record<string, string> = {}) => {
  const small = html.length < SMALL || !takesGzip(c)
  return sent(c, small ? html : await gzipped(html), status, headers)
}

export type Gzipped = Uint8Array<ArrayBuffer>
export const gzipped = async (html: string): Promise<Gzipped> => new Uint8Array(await packed(html, { level: 5 }))
export const takesGzip = (c: Http): boolean => /\bgzip\b/.test(c.req.header('accept-encoding') ?? '')

/** Markup that was compressed before, or not at all. */
export const sent = (c: Http, body: string | Gzipped, status: ContentfulStatusCode = 200, headers: Record<string, string> = {}) =>
  c.body(body, status, { ...PAGE_HEADERS, ...(typeof body !== 'string' && { 'content-encoding': 'gzip' }), ...headers })

/** A page whose parts are made while it is sent. */
export const streamedPage = (c: Http, parts: AsyncIterator<string>): Response => {
  const packs = takesGzip(c)
  const body = bodyFrom(parts)
  return c.body(packs ? body.pipeThrough(new CompressionStream('gzip')) : body, 200, {
    ...PAGE_HEADERS,
    ...(packs && { 'content-encoding': 'gzip' }),
  })
}

/** What the answers of people's part say to browsers, whatever they are; pages say more. Those of /api and /mcp come with it (http.ts). */
export const guarded = (c: Http, services: Services) => {
  moveOldCookies(c, services)
  const { headers } = c.res
  for (const [name, value] of Object.entries(GUARDED)) if (!headers.has(name)) headers.set(name, value)
  if (calledScheme(c, services) === 'https') headers.set('strict-transport-security', 'max-age=31536000')
}

/** Does a shared link alone open what is asked for? */
export const isGuest = (c: Http, { services }: Pick<Site, 'services'>): boolean => !mayRead(c, services) && sharedTokenOf(c) !== undefined

export const frameOf = (c: Http, { services, assets }: Site): Frame => {
  const theme = getCookie(c, THEME_COOKIE)
  const { pathname, search } = new URL(c.req.url)
  return {
    theme: THEMES.find((name) => name === theme) ?? 'system',
    person: isGuest(c, { services }) ? { name: 'Guest', role: 'guest' } : personOf(c, services),
    path: c.req.method === 'GET' ? localPath(redacted(pathname + search)) : '/',
    styles: hrefOf(assets, 'app.css'),
    script: hrefOf(assets, 'app.js'),
  }
}

/** One of our own paths, or `/`: what comes from outside must not lead elsewhere. */
export const localPath = (wished: string | undefined): string =>
  wished && /^\/(?![/\\])[^\\\s\p{Cc}]*$/u.test(wished) && !wished.startsWith('/sign-in') ? wished : '/'

/** To another page, after something was done or because it is not for this reader. */
export const seeOther = (c: Http, path: string) => c.body(null, 303, { location: path, 'cache-control': 'no-store' })

/** To the page that signs in, and from there back to this one. */
export const toSignIn = (c: Http, site: Site) => seeOther(c, `/sign-in?next=${encodeURIComponent(frameOf(c, site).path)}`)

/** Is it a person's browser that asks, and not a program? */
export const wantsPage = (c: Http): boolean => (c.req.header('accept') ?? '').includes('text/html') && !isApi(c.req.path)
