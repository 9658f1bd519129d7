// The pages that people see. doors/http/guards.ts says who may read them; a change is a POST, and needs a signed-in person.
import { Hono, type MiddlewareHandler } from 'hono'
import { ErrorPage } from '../../components/site/error-page.tsx'
import { refuse, STATUS, type ErrorBody } from '../core/errors.ts'
import { isUuid } from '../core/ids.ts'
import { escapeInvisible } from '../core/text/escape-invisible.ts'
import { howToRead, mayReadPage, mayReadSession } from '../doors/http/guards.ts'
import { markBrowser } from '../doors/http/cookies.ts'
import { errorAnswer, methodNotAllowed, readOnly, type Env, type Http } from '../doors/http/http.ts'
import { liveRoutes } from './live/routes.tsx'
import { problemOf } from './forms/perform-as-person.ts'
import { previewConclusion, showForm, submitForm, type FormName } from './forms/session-forms.tsx'
import { frameOf, page, seeOther, toSignIn, wantsPage, type Site } from './respond.tsx'
import { promptForm, submitInterrupt, submitPermission, submitPrompt } from './agents/acts.tsx'
import { newAgentSession, openAgentSession, worktreesPage } from './agents/worktrees.tsx'
import { askAgain, isAskedAgain } from './ask-again.tsx'
import { submitDecision, submitRenewal, submitWithdrawal } from './approvals/acts.tsx'
import { approvalPage } from './approvals/approval.tsx'
import { inboxPage } from './approvals/inbox.tsx'
import { inboxRoutes } from './approvals/inbox-live.tsx'
import { submitTogether } from './approvals/together.tsx'
import { assetResponse } from './assets.ts'
import { connectPage } from './site/connect.tsx'
import { showNewWork, showWork, submitNewWork, submitWork } from './board/work-forms.tsx'
import { recordsPage } from './record-list/records.tsx'
import { showWithdraw, submitWithdraw } from './record-list/withdraw.tsx'
import { docHistoryPage, restoreVersion, versionFile } from './session/doc-history.tsx'
import { feedExport, markdownExport } from './session/exports.ts'
import { homePage } from './site/home.tsx'
import { joinPage } from './site/join.tsx'
import { sendMessage } from './session/message.tsx'
import { searchPage } from './search/search.tsx'
import { asidePage, sessionPage } from './session/session.tsx'
import { endShare, makeInvitation, makeShare, endInvitation, sharePage } from './session/share.tsx'
import { keysPage, submitKey, submitRevoke, submitSignInEnd, submitSignInLink } from './site/keys.tsx'
import { checkLink, saveLink, saveLoopGuard, saveTheme, saveWakes, settingsPage } from './site/settings.tsx'
import { statusPage } from './site/status.tsx'
import { sendTestNotice, removeBrowser, addThisBrowser } from './site/notices.tsx'
import { eventFile, tracePage } from './trace/trace.tsx'
import { openShared } from '../doors/http/share-link.ts'
import { signInRoutes } from './site/sign-in.tsx'

type PageHandler = (c: Http, site: Site) => Promise<Response>
type Routes = Record<string, PageHandler>

const SESSION_FORMS: FormName[] = [
  'resume',
  'edit',
  'conclude',
  'reopen',
  'convener',
  'release',
  'limits',
  'stop',
  'start',
  'archive',
  'restore',
]
const onSession = (handler: (form: FormName) => PageHandler): Routes =>
  Object.fromEntries(SESSION_FORMS.map((form) => [`/sessions/:id/${form}`, handler(form)]))

// For people and programs alike: a reader without access gets an error instead of the sign-in page.
const FILES: Routes = {
  '/sessions/:id{[^/]+\\.md}': markdownExport,
  '/sessions/:id/feed.jsonl': feedExport,
  '/sessions/:id/history/:file{\\d+\\.md}': versionFile,
  '/sessions/:id/events/:file{\\d{1,15}\\.txt}': eventFile,
}
const READ: Routes = {
  '/': homePage,
  '/sessions/new': showForm('new'),
  '/sessions/:id': sessionPage,
  '/sessions/:id/board': asidePage('board'),
  '/sessions/:id/board/new': showNewWork,
  '/sessions/:id/board/:item/:form': showWork,
  '/sessions/:id/records': asidePage('records'),
  '/sessions/:id/records/:record/withdraw': showWithdraw,
  '/records': recordsPage,
  '/sessions/:id/prompt': promptForm,
  '/sessions/:id/history': docHistoryPage,
  '/sessions/:id/turns': tracePage,
  '/sessions/:id/turns/:turn': tracePage,
  '/sessions/:id/share': sharePage,
  ...onSession(showForm),
  '/search': searchPage,
  '/settings': settingsPage,
  '/settings/keys': keysPage,
  '/status': statusPage,
  '/connect': connectPage,
  '/approvals': inboxPage,
  '/approvals/:id': approvalPage,
  '/worktrees': worktreesPage,
  '/worktrees/:worktree/new': newAgentSession,
}
const WRITE: Routes = {
  '/sessions/new': submitForm('new'),
  '/sessions/:id/board/new': submitNewWork,
  '/sessions/:id/board/:item/:form': submitWork,
  '/sessions/:id/records/:record/withdraw': submitWithdraw,
  '/sessions/:id/messages': sendMessage,
  '/sessions/:id/prompt': submitPrompt,
  '/sessions/:id/interrupt': submitInterrupt,
  '/sessions/:id/permission': submitPermission,
  '/sessions/:id/history': restoreVersion,
  '/sessions/:id/share': makeShare,
  '/sessions/:id/unshare': endShare,
  '/sessions/:id/invite': makeInvitation,
  '/sessions/:id/uninvite': endInvitation,
  ...onSession(submitForm),
  '/sessions/:id/conclude/preview': previewConclusion,
  '/worktrees/:worktree/new': openAgentSession,
  '/approvals': submitTogether,
  '/approvals/:id': submitDecision,
  '/approvals/:id/renew': submitRenewal,
  '/records/:record/withdraw': submitWithdrawal,
  '/settings/keys': submitKey,
  '/settings/keys/revoke': submitRevoke,
  '/settings/sign-ins/link': submitSignInLink,
  '/settings/sign-ins/end': submitSignInEnd,
  '/settings/mcp-url': saveLink,
  '/settings/check': checkLink,
  '/settings/loop-guard': saveLoopGuard,
  '/settings/wakes': saveWakes,
  '/settings/push': addThisBrowser,
  '/settings/push/remove': removeBrowser,
  '/settings/notices/test': sendTestNotice,
  '/theme': saveTheme,
}

/** The paths of all pages and files that people read. */
export const READ_PATHS: readonly string[] = [...Object.keys(FILES), ...Object.keys(READ)]

const WORKER_PATH = '/sw.js' // a service worker reaches the pages below its own path alone

export const pageRoutes = (site: Site) => {
  const { services } = site
  const app = new Hono<Env>()
  const file = async (c: Http, name: string) => (await assetResponse(c, site.assets, name)) ?? c.notFound()
  app.route(
    '/',
    readOnly({
      '/public/:name': (c) => file(c, c.req.param('name')!),
      [WORKER_PATH]: (c) => file(c, 'sw.js'),
      '/shared/:token': (c) => openShared(c, services),
      '/join/:code': (c) => joinPage(c, site),
    }),
  )
  app.route('/', signInRoutes(site))
  app.get('/sessions/:id/*', inSmallLetters)
  app.route('/', liveRoutes(site))
  app.route('/', inboxRoutes(site))
  // Hono takes the first path that matches, so files come before pages.
  for (const path of new Set(Object.keys({ ...FILES, ...READ, ...WRITE }))) {
    const [file, read, write] = [FILES[path], READ[path], WRITE[path]]
    if (file) app.get(path, async (c) => ((await mayReadSession(c, services, sessionOf(c))) ? file(c, site) : closed(site)))
    if (read)
      app.get(path, async (c) => {
        if (isAskedAgain(c)) return askAgain(c, site)
        if (!(await mayReadPage(c, services))) return toSignIn(c, site)
        markBrowser(c, services)
        await site.waiting.read()
        return read(c, site)
      })
    if (write) app.post(path, (c) => write(c, site))
    app.all(path, () => methodNotAllowed([...(file || read ? ['GET'] : []), ...(write ? ['POST'] : [])]))
  }
  return app
}

// An id that was copied in capitals, as some programs show it, leads to the session's page, as it does over REST.
const inSmallLetters: MiddlewareHandler<Env> = async (c, next) => {
  const { pathname, search } = new URL(c.req.url)
  const [, , id = ''] = pathname.split('/')
  const small = id.toLowerCase()
  if (small === id || !isUuid(small.replace(/\.md$/, ''))) return next()
  return seeOther(c, pathname.replace(id, small) + search)
}

const sessionOf = (c: Http) => c.req.param('id')!.replace(/\.md$/, '')
const closed = ({ services }: Site) => refuse('unauthorized', `${howToRead(services, true)}, to read this session.`)

/** A person who opens the agents' link in a browser is led to the page that says what it is for. */
export const linkInBrowser: MiddlewareHandler<Env> = async (c, next) =>
  c.req.method === 'GET' && (c.req.header('accept') ?? '').includes('text/html') ? seeOther(c, '/connect') : next()

const TITLES: Partial<Record<ErrorBody['code'], string>> = {
  not_found: 'Not found',
  unauthorized: 'Sign in first',
  forbidden: 'Not allowed',
  rate_limited: 'Too many requests',
  unavailable: 'Not available right now',
  internal_error: 'Something went wrong here',
}

/** An error as a page for people, as JSON for programs; as a sentence for a form that htmx sent, which says it where it stands. */
export const errorFor = (c: Http, site: Site, error: ErrorBody): Response | Promise<Response> => {
  const answer = errorAnswer(error)
  if (!wantsPage(c)) return answer
  const status = STATUS[error.code]
  const retry = answer.headers.get('retry-after')
  const headers: Record<string, string> = retry ? { 'retry-after': retry } : {}
  if (c.req.header('hx-request') && status < 500) return c.text(escapeInvisible(sentenceOf(error)), status, { ...headers, ...SENTENCE })
  const title = TITLES[error.code] ?? 'This did not work'
  return page(c, <ErrorPage frame={frameOf(c, site)} {...{ status, title }} message={error.message} />, status, headers)
}

const SENTENCE = { 'cache-control': 'no-store', 'hx-reswap': 'none' } // by which public/forms.js knows it, too

const sentenceOf = (error: ErrorBody): string =>
  error.code === 'unauthorized' ? 'You are no longer signed in. Sign in in another tab, then send this again.' : problemOf(error).text
