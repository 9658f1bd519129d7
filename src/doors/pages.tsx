// The pages that people see. Reading needs what doors/guards.ts says; what changes something is a POST and needs a signed-in person.
import { Hono, type MiddlewareHandler } from 'hono'
import { ConnectPage } from '../../components/connect-page.tsx'
import { ErrorPage } from '../../components/error-page.tsx'
import type { ErrorBody } from '../core/errors.ts'
import { STATUS } from '../core/errors.ts'
import { mayRead } from './guards.ts'
import { errorAnswer, type Env, type Http } from './http.ts'
import { frameOf, page, seeOther, wantsPage, type Site } from './pages/answer.tsx'
import { assetAnswer } from './pages/assets.ts'
import { homePage } from './pages/home.tsx'
import { linkOf } from './pages/link.ts'
import { sessionPage } from './pages/session.tsx'
import { saveLink, saveTheme, settingsPage } from './pages/settings.tsx'
import { methodNotAllowed } from './rest.ts'
import { signInRoutes } from './sign-in.tsx'

type Answer = (c: Http, site: Site) => Promise<Response>

const READ: Record<string, Answer> = {
  '/': homePage,
  '/sessions/:id': sessionPage,
  '/settings': settingsPage,
  '/connect': (c, site) => page(c, <ConnectPage frame={frameOf(c, site)} link={linkOf(c, site.services)} />),
}
const WRITE: Record<string, Answer> = { '/settings/mcp-url': saveLink, '/theme': saveTheme }

export const pageRoutes = (site: Site) => {
  const app = new Hono<Env>()
  app.get('/public/:name', async (c) => assetAnswer(c, site.assets, c.req.param('name')) ?? c.notFound())
  app.route('/', signInRoutes(site))
  for (const [path, answer] of Object.entries(READ)) {
    app.get(path, async (c) => {
      if (mayRead(c, site.services)) return answer(c, site)
      return seeOther(c, `/sign-in?next=${encodeURIComponent(frameOf(c, site).path)}`)
    })
    app.all(path, () => methodNotAllowed(['GET']))
  }
  for (const [path, answer] of Object.entries(WRITE)) {
    app.post(path, (c) => answer(c, site))
    app.all(path, () => methodNotAllowed(['POST']))
  }
  return app
}

/** A person who opened the agents' link in a browser: shows what it is for. */
export const linkInBrowser: MiddlewareHandler<Env> = async (c, next) =>
  c.req.method === 'GET' && (c.req.header('accept') ?? '').includes('text/html') ? seeOther(c, '/connect') : next()

const TITLES: Partial<Record<ErrorBody['code'], string>> = {
  not_found: 'Not here',
  unauthorized: 'Sign in first',
  forbidden: 'Not allowed',
  rate_limited: 'Too many requests',
  unavailable: 'Not available right now',
  internal_error: 'Something went wrong here',
}

/** An error as a page for people, as JSON for programs. */
export const errorFor = (c: Http, site: Site, error: ErrorBody): Response | Promise<Response> => {
  const answer = errorAnswer(error)
  if (!wantsPage(c)) return answer
  const status = STATUS[error.code]
  const retry = answer.headers.get('retry-after')
  const title = TITLES[error.code] ?? 'This did not work'
  return page(
    c,
    <ErrorPage frame={frameOf(c, site)} {...{ status, title }} message={error.message} />,
    status,
    retry ? { 'retry-after': retry } : {},
  )
}
