// Pages as responses: rendered, compressed for browsers, with headers that let only this server's own content into them.
import { getCookie } from 'hono/cookie'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { ReactElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import type { Frame } from '../../components/site/shell.tsx'
import { THEMES } from '../../components/site/theme.ts'
import type { EventKinds } from '../core/events/event-kinds.ts'
import { redacted } from '../core/text/text.ts'
import type { ClientProgram } from '../doors/rest/client-package.ts'
import type { Services } from '../process/services.ts'
import { actorOf, personOf } from '../doors/http/cookies.ts'
import { mayRead } from '../doors/http/guards.ts'
import { bodyFrom, GUARDED, isApi, type Http } from '../doors/http/http.ts'
import { calledScheme } from '../doors/http/origin.ts'
import { moveOldCookies, sharedTokenOf } from '../doors/http/share-link.ts'
import type { Waiting } from './approvals/waiting.ts'
import { hrefOf, type Assets } from './assets.ts'
import { encodingFor, pack, takes, type Packed } from './compress.ts'

export const THEME_COOKIE = 'parley_theme'

/** What all pages share. */
export interface Site {
  services: Services
  assets: Assets
  /** The kinds of system events of all toolsets that are served. */
  eventKinds: EventKinds
  waiting: Waiting
  /** The program `parley` that this server hands out. */
  program?: ClientProgram | undefined
}

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': POLICY,
  'cross-origin-opener-policy': 'same-origin',
  // Other sites get no referrer. With "no-referrer" our own forms would send `Origin: null`; on plain http beyond loopback, where browsers
  // send no Sec-Fetch-Site, the guards could not tell them from the forms of another site, and would refuse them.
  'referrer-policy': 'same-origin',
  vary: 'accept-encoding, cookie',
}
const SMALL = 1_400 // fits into one packet uncompressed

/** Renders a page. `headers` are added to those that every page has. */
export const page = (c: Http, element: ReactElement, status?: ContentfulStatusCode, headers?: Record<string, string>): Promise<Response> =>
  htmlResponse(c, `<!doctype html>${renderToStaticMarkup(element)}`, status, headers)

/** Renders a part of a page, for htmx to put into it. */
export const fragment = (c: Http, element: ReactElement, status?: ContentfulStatusCode): Promise<Response> =>
  htmlResponse(c, renderToStaticMarkup(element), status)

/** Markup as a response, compressed unless it is small or the browser takes neither encoding. */
export const htmlResponse = async (c: Http, html: string, status: ContentfulStatusCode = 200, headers: Record<string, string> = {}) => {
  const encoding = html.length < SMALL ? undefined : encodingFor(c)
  return sendHtml(c, encoding ? await pack(html, encoding) : html, status, headers)
}

/** A response of markup as it is: text, or bytes that were compressed before. */
export const sendHtml = (c: Http, body: string | Packed, status: ContentfulStatusCode = 200, headers: Record<string, string> = {}) =>
  typeof body === 'string'
    ? c.body(body, status, { ...PAGE_HEADERS, ...headers })
    : c.body(body.bytes, status, { ...PAGE_HEADERS, 'content-encoding': body.encoding, ...headers })

/** A page whose parts are rendered while it is sent. */
export const streamedPage = (c: Http, parts: AsyncIterator<string>): Response => {
  const packs = takes(c, 'gzip') // CompressionStream has no brotli everywhere
  const body = bodyFrom(parts)
  return c.body(packs ? body.pipeThrough(new CompressionStream('gzip')) : body, 200, {
    ...PAGE_HEADERS,
    ...(packs && { 'content-encoding': 'gzip' }),
  })
}

/** Adds the security headers of every response to people, page or not; pages bring more. Responses of /api and /mcp have theirs (http.ts). */
export const addSecurityHeaders = (c: Http, services: Services) => {
  moveOldCookies(c, services)
  const { headers } = c.res
  for (const [name, value] of Object.entries(GUARDED)) if (!headers.has(name)) headers.set(name, value)
  if (calledScheme(c, services) === 'https') headers.set('strict-transport-security', 'max-age=31536000')
}

/** Whether the reader may read only through a shared link. */
export const isGuest = (c: Http, { services }: Pick<Site, 'services'>): boolean => !mayRead(c, services) && sharedTokenOf(c) !== undefined

export const frameOf = (c: Http, { services, assets, waiting }: Site): Frame => {
  const theme = getCookie(c, THEME_COOKIE)
  const { pathname, search } = new URL(c.req.url)
  return {
    theme: THEMES.find((name) => name === theme) ?? 'system',
    person: isGuest(c, { services }) ? { name: 'Guest', role: 'guest' } : personOf(c, services),
    path: c.req.method === 'GET' ? localPath(redacted(pathname + search)) : '/',
    waiting: mayRead(c, services) ? waiting.countFor(actorOf(c, services)) : 0,
    hrefOf: (asset) => hrefOf(assets, asset),
  }
}

/** A path given from outside if it is one of this server's own, else `/`: a redirect must not lead to another site. */
export const localPath = (path: string | undefined): string =>
  path && /^\/(?![/\\])[^\\\s\p{Cc}]*$/u.test(path) && !path.startsWith('/sign-in') ? path : '/'

/** An address as a header carries it: ASCII that can be seen. */
export const inHeader = (path: string): string => path.toWellFormed().replace(/[^!-~]+/g, encodeURIComponent)

/** Redirects to another page: after a form was handled, or because the page asked for is not for this reader. */
export const seeOther = (c: Http, path: string) => c.body(null, 303, { location: inHeader(path), 'cache-control': 'no-store' })

/** The same for htmx, which would put the page that a redirect leads to into its own. */
export const leadTo = (c: Http, path: string) => c.body('', 200, { 'hx-redirect': inHeader(path), 'cache-control': 'no-store' })

/** Leads to the sign-in page, which leads back here. */
export const toSignIn = (c: Http, site: Site) => {
  const path = `/sign-in?next=${encodeURIComponent(frameOf(c, site).path)}`
  return c.req.header('hx-request') ? leadTo(c, path) : seeOther(c, path)
}

/** Whether a person's browser asks, and not a program. */
export const wantsPage = (c: Http): boolean => (c.req.header('accept') ?? '').includes('text/html') && !isApi(c.req.path)
