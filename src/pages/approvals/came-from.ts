// Finds the page that the form of a card was sent from, to lead back there: the same card is in a feed, in the inbox and on its own page.
import type { Http } from '../../doors/http/http.ts'
import { localPath } from '../respond.tsx'

/** Path and query of the browser's Referer, which our own pages send to each other. */
export const pageBefore = (c: Http): URL | undefined => {
  const referer = c.req.header('referer')
  if (!referer || !URL.canParse(referer)) return undefined
  const { pathname, search } = new URL(referer)
  return new URL(localPath(pathname + search), 'http://here')
}

/** Path and query of the inbox, or of the session's page and what stood beside its feed, that the form was in; undefined where it was
 *  elsewhere. */
export const pageOfForm = (c: Http): string | undefined => {
  const before = pageBefore(c)
  return before && (before.pathname === '/approvals' || isFeed(before)) ? before.pathname + before.search : undefined
}

const isFeed = ({ pathname }: URL): boolean => /^\/sessions\/[^/]+(?:\/(?:board|records))?$/.test(pathname)

/** Where on its page the card of a form stands (components/approvals/proposal-card.tsx). */
export const placeBefore = (c: Http): 'feed' | 'past' | undefined => {
  const before = pageBefore(c)
  if (!before) return undefined
  return isFeed(before) ? 'feed' : before.searchParams.has('show') ? 'past' : undefined
}

const MOST_KEPT = 50 // cards that were decided on this visit

/** Where a card's form leads without script: the page that it stood on, at the card. The inbox keeps what was decided on this visit. */
export const afterCard = (c: Http, id: string): string => {
  const before = pageBefore(c)
  if (before?.pathname === '/approvals') {
    const done = [...new Set([...before.searchParams.getAll('done'), id])].slice(-MOST_KEPT)
    before.searchParams.delete('done')
    for (const one of done) before.searchParams.append('done', one)
  } else if (!before || !isFeed(before)) return `/approvals/${id}`
  return `${before.pathname}${before.search}#p${id}`
}
