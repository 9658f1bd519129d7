// What an open inbox asks for.
//   GET /approvals/live                          server-sent events: `waiting` (the ids of what waits, with their sessions), `html` (parts to
//                                                put into their places), `ping`; with ?meeting=ID, questions and needs of that session
//   GET /approvals/cards?proposal=ID&request=SESSION:ID   the cards of these, any number of each
import { renderToStaticMarkup } from 'react-dom/server'
import { AskedForItem, GroupSection } from '../../../components/approvals/inbox-groups.tsx'
import { isUuid } from '../../core/ids.ts'
import { actorOf } from '../../doors/http/cookies.ts'
import { openStream, SSE_HEADERS } from '../../doors/http/event-stream.ts'
import { mayRead, readersOnly } from '../../doors/http/guards.ts'
import { readOnly, type Http } from '../../doors/http/http.ts'
import { whileReadable } from '../../doors/http/revocable-stream.ts'
import { requestsOf } from '../../stores/control/watched.ts'
import { proposalsByIds } from '../../stores/records/proposal-list.ts'
import { htmlResponse, type Site } from '../respond.tsx'
import { proposalViews } from './card-view.ts'
import { InboxHub } from './inbox-hub.ts'
import { askedFor, groupsOf } from './inbox-waiting.ts'

export const inboxRoutes = (site: Site) => {
  const hub = new InboxHub(site.services, site.waiting)
  return readOnly(
    { '/approvals/live': (c) => stream(c, site, hub), '/approvals/cards': (c) => cards(c, site) },
    readersOnly((c) => mayRead(c, site.services), 'Sign in to follow what waits.'),
  )
}

const stream = (c: Http, { services }: Site, hub: InboxHub): Response => {
  const left = openStream(c, services)
  if (c.req.method === 'HEAD') return (left(), new Response(null, { headers: SSE_HEADERS }))
  c.env?.untimed?.()
  const body = hub.open({ person: actorOf(c, services), meeting: c.req.query('meeting') || undefined }, left)
  return whileReadable(c, services, undefined, new Response(body, { headers: SSE_HEADERS }))
}

const MOST = 100 // a page asks for more in several calls

const cards = async (c: Http, { services }: Site): Promise<Response> => {
  const { database } = services
  const ids = (c.req.queries('proposal') ?? []).filter(isUuid).slice(0, MOST)
  const named = (c.req.queries('request') ?? []).flatMap(requestIn).slice(0, MOST)
  const [rows, requests] = await Promise.all([proposalsByIds(database, ids), requestsOf(database, named)])
  const place = new Map(ids.map((id, i) => [id, i]))
  const views = await proposalViews(
    services,
    database,
    rows.toSorted((a, b) => place.get(a.proposal.id)! - place.get(b.proposal.id)!),
  )
  const asked = await askedFor(services, requests)
  return htmlResponse(
    c,
    renderToStaticMarkup(
      <>
        {asked.map((one) => (
          <AskedForItem key={one.card.anchor} asked={one} />
        ))}
        {groupsOf(views).map((group) => (
          <GroupSection key={group.session.id} group={{ ...group, together: [] }} />
        ))}
      </>,
    ),
  )
}

const requestIn = (given: string) => {
  const [session_id = '', id = ''] = [given.slice(0, 36), given.slice(37)]
  return isUuid(session_id) && id !== '' ? [{ session_id, id }] : []
}
