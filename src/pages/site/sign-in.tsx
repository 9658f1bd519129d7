// Signing in: by the link that was printed at the first start, by the form, or by a link that is bound to a name and signs in once.
// doors/http/cookies.ts makes the cookie. The link that signs in once is opened by more than its person: chats and mail filters look what
// is behind it. So its page only shows a button, and that uses it up.
//
// Keys and passwords that a person chose may be guessed ten times a minute from an address. Another site's page can make a visitor's
// browser send wrong guesses from the visitor's address, and must not use up the visitor's own tries:
//   images, fetches, frames   send Sec-Fetch headers that say so, and are refused before they count
//   forms                     bring an Origin that the guards refuse (guards.ts)
//   windows, redirects        look like a link in a mail or chat, which has to work: such links have ten tries of their own
//   plain http                browsers send no Sec-Fetch headers, so all of these but forms count as such links
// So the form, and a link that the person typed or pasted, always have their ten. A key that this server made passes whatever the count:
// 192 random bits need no limit, and behind a proxy, where all visitors share an address, any of them could use up the tries.
import { Hono } from 'hono'
import { LinkPage, SignedInPage, SignInPage } from '../../../components/site/sign-in-page.tsx'
import { moment } from '../../../components/parts/time.ts'
import { Refusal, refuse } from '../../core/errors.ts'
import { parseToken, type Token } from '../../core/ids.ts'
import { isMeantAsKey } from '../../core/key-scopes.ts'
import { holdsSecret, nameIsPlain } from '../../core/text/text.ts'
import { isMadeHere } from '../../process/operator-key.ts'
import { keysInForce } from '../../process/keys-in-force.ts'
import { signInByLink } from '../../process/sign-ins.ts'
import { linkState, type LinkState } from '../../stores/people.ts'
import { Allowance } from '../../doors/http/allowance.ts'
import { personOf, roleByKey, setSignIn, signIn, signInName, signOut } from '../../doors/http/cookies.ts'
import { endSubscription, keepSubscription } from '../../doors/http/push-subscription-cookie.ts'
import { methodNotAllowed, type Env, type Http } from '../../doors/http/http.ts'
import { addressOf } from '../../doors/http/origin.ts'
import { frameOf, inHeader, localPath, page, seeOther, type Site } from '../respond.tsx'
import { formOf } from '../forms/fields.ts'

const TRIES_A_MINUTE = 10

export const signInRoutes = (site: Site) => {
  const { services } = site
  const ownTries = new Allowance(TRIES_A_MINUTE) // of the form, and of links that only the person can have opened
  const linkTries = new Allowance(TRIES_A_MINUTE)

  const wrong = services.config.VIEWER_PASSWORD === undefined ? 'That key is not valid.' : 'That key or password is not valid.'

  const form = (c: Http, next: string, problem?: { status: 400 | 401 | 409 | 429; text: string; retryAfter?: number }, name = '') => {
    const { ACCESS_TOKEN, VIEWER_PASSWORD, OPERATOR_KEY } = services.config
    const reading = VIEWER_PASSWORD !== undefined ? 'password' : ACCESS_TOKEN !== undefined ? 'closed' : 'open'
    const frame = { ...frameOf(c, site), path: '/' }
    const headers = problem?.retryAfter ? { 'retry-after': String(problem.retryAfter) } : {}
    return page(
      c,
      <SignInPage {...{ frame, next, name, reading }} chosen={OPERATOR_KEY !== undefined} problem={problem?.text} />,
      problem?.status,
      headers,
    )
  }

  // A link's secret is as random as a key that was made here, and needs no limit either.
  const offer = async (c: Http, link: Token, next: string) => {
    const state = await linkState(services.database, link, keysInForce(services))
    if (!state || state.used || state.expired) return form(c, next, { status: 401, text: whyNot(state) })
    const { name, expiresAt } = state
    const frame = { ...frameOf(c, site), path: '/' }
    // The page's address holds the link. With no referrer at all its form would send `Origin: null` (respond.tsx).
    return page(c, <LinkPage {...{ frame, next, name, expiresAt }} link={c.req.query('key')!} />, 200, {
      'referrer-policy': 'strict-origin',
    })
  }

  const enter = async (c: Http, { key, name: typed = '', next, byLink }: Attempt, entered: () => Response | Promise<Response>) => {
    const role = roleByKey(services, key)
    const isKey = holdsSecret(typed) || (role !== undefined && typed.includes(key)) // pasted into both fields, say
    const name = isKey ? '' : typed
    if (!role || !isMadeHere(key)) {
      const retryAfter = (byLink ? linkTries : ownTries).take(addressOf(c, services))
      if (retryAfter > 0) return form(c, next, { status: 429, text: tooMany(retryAfter, byLink), retryAfter }, name)
      if (!role) return form(c, next, { status: 401, text: isMeantAsKey(key) ? OF_A_PROGRAM : wrong }, name)
    }
    if (isKey) return form(c, next, { status: 400, text: 'That name holds a key, which everybody would read. Enter your name.' })
    if (name.trim() !== '' && !nameIsPlain(name.trim()))
      return form(c, next, {
        status: 400,
        text: 'That name has invisible characters, by which it could pass for another one. Type it anew.',
      })
    try {
      const { handle } = await signIn(c, services, { name: signInName(name), role })
      await keepSubscription(c, services, handle)
    } catch (error) {
      if (!(error instanceof Refusal) || error.code !== 'conflict') throw error
      return form(c, next, { status: 409, text: error.message }, name)
    }
    return entered()
  }

  return new Hono<Env>()
    .get('/sign-in', async (c) => {
      const next = localPath(c.req.query('next'))
      const key = c.req.query('key')
      if (key !== undefined) {
        refuseUnlessOpened(c)
        const link = linkIn(key)
        if (link) return offer(c, link, next)
        return enter(c, { key, name: c.req.query('name'), next, byLink: !openedByPerson(c) }, () => arrived(c, next))
      }
      return personOf(c, services) ? seeOther(c, next) : form(c, next)
    })
    .post('/sign-in', async (c) => {
      const fields = await formOf(c)
      const next = localPath(fields.get('next') ?? undefined)
      const [key, name] = [fields.get('key') ?? '', fields.get('name') ?? undefined]
      const link = linkIn(key)
      if (link) return enterByLink(c, link, next)
      return enter(c, { key, name, next, byLink: false }, () => seeOther(c, next))
    })
    .post('/sign-out', async (c) => {
      await endSubscription(c, services)
      await signOut(c, services)
      return seeOther(c, '/')
    })
    .all('/sign-in', () => methodNotAllowed(['GET', 'POST']))
    .all('/sign-out', () => methodNotAllowed(['POST']))

  async function enterByLink(c: Http, link: Token, next: string) {
    const linked = await signInByLink(services, link)
    if (!linked) return form(c, next, { status: 401, text: whyNot(await linkState(services.database, link, keysInForce(services))) })
    setSignIn(c, services, linked)
    await keepSubscription(c, services, linked.handle)
    return seeOther(c, next)
  }

  // An OPERATOR_KEY may look like anything.
  function linkIn(key: string): Token | undefined {
    return roleByKey(services, key) ? undefined : parseToken(key)
  }

  // The cookie is SameSite=Strict: after a redirect that began on another site's page the browser would not send it.
  function arrived(c: Http, next: string) {
    if (c.req.header('sec-fetch-site') !== 'cross-site') return seeOther(c, next)
    return page(c, <SignedInPage frame={frameOf(c, site)} next={next} />, 200, {
      refresh: `0; url=${inHeader(next)}`,
      'referrer-policy': 'no-referrer', // the page's address holds the key
    })
  }
}

interface Attempt {
  key: string
  name: string | undefined
  next: string
  byLink: boolean
}

const OF_A_PROGRAM = 'That is meant as the key of a program, which signs nobody in. Here the operator key does, or a link of your own.'

const ASKED = 'whoever runs this server for a new one, which `bun run key person NAME` prints.'

/** Why a link signs nobody in, and what to do. */
const whyNot = (state: LinkState | undefined): string => {
  if (state?.used)
    return `This link has signed ${state.name} in, once, on ${moment(state.used)}. If that was you in this browser, go to the start page. In another browser of yours, where you are signed in, /settings/keys makes you a new one. Otherwise, ask ${ASKED}`
  return state
    ? `This link expired on ${moment(state.expiresAt)}. Ask ${ASKED}`
    : `This link is not complete, or a newer one has replaced it. Ask ${ASKED}`
}

const tooMany = (seconds: number, byLink: boolean) =>
  byLink
    ? `Too many sign-in links were opened from here. Enter the key below, or try the link again in ${seconds} s.`
    : `Too many attempts. Try again in ${seconds} s.`

/** Refuses a sign-in link that an image, script, fetch or frame asks for: people open it as a page. */
const refuseUnlessOpened = (c: Http) => {
  const [mode, dest] = [c.req.header('sec-fetch-mode'), c.req.header('sec-fetch-dest')]
  if ((mode ?? 'navigate') === 'navigate' && (dest ?? 'document') === 'document') return
  refuse('forbidden', 'A sign-in link has to be opened as a page. A program sends `key` and `name` as a form: POST /sign-in.')
}

// Typed, pasted or bookmarked ("none"), or from one of our own pages: no other site's page can make a browser send that.
const openedByPerson = (c: Http) => ['none', 'same-origin'].includes(c.req.header('sec-fetch-site') ?? '')
