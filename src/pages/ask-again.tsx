// A link on another site's page, a chat's say, to a page of ours. Its browser withholds the cookie of a sign-in, and sends it once a page of
// ours asks for the same address. The mark goes with that page, so a browser that withholds the cookie once more gets what strangers get.
import { AskAgainPage } from '../../components/site/ask-again-page.tsx'
import { maySignInBeWithheld, unmarkBrowser } from '../doors/http/cookies.ts'
import type { Http } from '../doors/http/http.ts'
import { frameOf, page, wantsPage, type Site } from './respond.tsx'

/** Whether this page is to be asked for once more before it is answered; parts of a page, which htmx asks for, are not. */
export const isAskedAgain = (c: Http): boolean =>
  maySignInBeWithheld(c) && wantsPage(c) && c.req.header('hx-request') === undefined && ELSEWHERE.has(c.req.header('sec-fetch-site'))
// Browsers on plain http beyond this machine do not tell. From a page of ours a sign-in is not withheld.
const ELSEWHERE = new Set(['cross-site', undefined])

/** Answers with a page that has the browser ask for the same address again. */
export const askAgain = (c: Http, site: Site): Promise<Response> => {
  unmarkBrowser(c, site.services)
  return page(c, <AskAgainPage frame={frameOf(c, site)} />)
}
