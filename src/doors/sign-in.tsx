// Signing in: by the link that was printed at the first start, or by the form. The cookie is doors/cookies.ts's.
import { Hono } from 'hono'
import { SignedInPage, SignInPage } from '../../components/sign-in-page.tsx'
import { Allowance } from './allowance.ts'
import { personName, personOf, roleOf, signIn, signOut } from './cookies.ts'
import type { Env, Http } from './http.ts'
import { addressOf } from './origin.ts'
import { frameOf, localPath, page, seeOther, type Site } from './pages/answer.tsx'
import { formOf } from './pages/form.ts'

const TRIES_A_MINUTE = 10

export const signInRoutes = (site: Site) => {
  const { services } = site
  const tries = new Allowance(TRIES_A_MINUTE)

  const form = (c: Http, next: string, problem?: { status: 401 | 429; text: string; retryAfter?: number }, name = '') => {
    const { ACCESS_TOKEN, VIEWER_PASSWORD } = services.config
    const reading = VIEWER_PASSWORD !== undefined ? 'password' : ACCESS_TOKEN !== undefined ? 'closed' : 'open'
    const frame = { ...frameOf(c, site), path: '/' }
    const headers = problem?.retryAfter ? { 'retry-after': String(problem.retryAfter) } : {}
    return page(c, <SignInPage {...{ frame, next, name, reading }} problem={problem?.text} />, problem?.status, headers)
  }

  const enter = (c: Http, key: string, name: string | undefined, next: string, entered: () => Response | Promise<Response>) => {
    const retryAfter = tries.take(addressOf(c, services))
    if (retryAfter > 0) return form(c, next, { status: 429, text: `Too many attempts. Try again in ${retryAfter} s.`, retryAfter }, name)
    const role = roleOf(services, key)
    if (!role) return form(c, next, { status: 401, text: 'That key or password is not valid.' }, name)
    signIn(c, services, { name: personName(name), role })
    return entered()
  }

  return new Hono<Env>()
    .get('/sign-in', async (c) => {
      const next = localPath(c.req.query('next'))
      const key = c.req.query('key')
      if (key !== undefined) return enter(c, key, c.req.query('name'), next, () => arrived(c, next))
      return personOf(c, services) ? seeOther(c, next) : form(c, next)
    })
    .post('/sign-in', async (c) => {
      const fields = await formOf(c)
      const next = localPath(fields.get('next') ?? undefined)
      return enter(c, fields.get('key') ?? '', fields.get('name') ?? undefined, next, () => seeOther(c, next))
    })
    .post('/sign-out', (c) => {
      signOut(c, services)
      return seeOther(c, '/')
    })

  // Our cookie is strict: a redirect that began on another site's page would go on without it.
  function arrived(c: Http, next: string) {
    if (c.req.header('sec-fetch-site') !== 'cross-site') return seeOther(c, next)
    return page(c, <SignedInPage frame={frameOf(c, site)} next={next} />, 200, { refresh: `0; url=${next}` })
  }
}
