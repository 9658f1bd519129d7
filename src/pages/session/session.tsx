// A session's page: roster, feed, and beside it the document, the board or the records. An imported session opens as a trace (trace.tsx).
import { renderToStaticMarkup } from 'react-dom/server'
import { SLOTS } from '../../../components/session/lanes.tsx'
import { SessionPage } from '../../../components/session/session-page.tsx'
import { PurgedPage } from '../../../components/session/purged-page.tsx'
import type { FeedWindow, SessionAgent, SessionView } from '../../../components/session/session-view.ts'
import { PURGED } from '../../rooms/handoff.ts'
import { existingSession } from '../../rooms/preconditions.ts'
import type { Services } from '../../process/services.ts'
import { roster, type RosterRow } from '../../stores/members.ts'
import { sessionsWithDocs, activityOf } from '../../stores/live-state.ts'
import type { Http } from '../../doors/http/http.ts'
import { linkOnPages } from '../site/connect.tsx'
import { numberIn } from '../../doors/http/query.ts'
import { readSides } from '../board/sides.ts'
import { frameOf, isGuest, page, seeOther, streamedPage, type Site } from '../respond.tsx'
import { answeredQuestion } from './answered-question.ts'
import { sessionAgentOf } from '../agents/session-agent.ts'
import { documentOf } from './document.ts'
import { activityLanes, messageCount } from './lanes.ts'
import { sidePart, sideView, type AsideName } from './side.tsx'
import { sessionStateOf, type SessionWithDoc } from './state.ts'
import { teamLookup } from './team-lookup.ts'
import { WHOLE_FEED, wholeFeed, windowOf } from './window.tsx'
import { tracePage } from '../trace/trace.tsx'

/** GET /sessions/:id: the newest of the feed; with ?around=SEQ the feed around that event, with ?all=1 the whole feed. With
 *  ?answer=SEQ what its person writes next answers that question. */
export const sessionPage = (c: Http, site: Site): Promise<Response> => sessionWith(c, site, c.req.query('all') !== undefined)

/** GET /sessions/:id/board and /sessions/:id/records: the same page with the board, or the records, in the document's place. With ?part=panel
 *  that part alone. */
export const asidePage = (name: AsideName) => (c: Http, site: Site) => sessionWith(c, site, false, name)

const sessionWith = async (c: Http, site: Site, all: boolean, aside?: AsideName): Promise<Response> => {
  const { services, eventKinds: kinds } = site
  const { database } = services
  const { id, source, purgedAt } = await existingSession(database, c.req.param('id') ?? '')
  if (purgedAt !== null) return page(c, <PurgedPage frame={frameOf(c, site)} id={id} sentence={PURGED} />)
  if (source !== 'room') return aside ? seeOther(c, `/sessions/${id}`) : tracePage(c, site)
  const [[found], teams] = await Promise.all([sessionsWithDocs(database, [id], services.wakes.perHour()), roster(database, id)])
  const row = found!
  if (aside && c.req.query('part') === 'panel') return sidePart(c, site, row.session, row.version, aside)
  const feed = { services, queries: database, sessionId: id, teams: teamLookup(teams), kinds }
  const guest = isGuest(c, site)
  const agent = await sessionAgentOf(c, site, row.session)
  const view = await sessionViewOf(
    services,
    row,
    teams,
    all ? WHOLE_FEED : windowOf(feed, row, { around: numberIn(c, 'around'), guest }),
    agent,
  )
  const answers = await answeredQuestion(database, id, { sequence: numberIn(c, 'answer') })
  const side = aside && (await sideView(c, site, row.session, aside))
  const composer = { idempotencyKey: crypto.randomUUID(), answers }
  const shown = <SessionPage frame={frameOf(c, site)} session={view} side={side} link={linkOnPages(c, site)} composer={composer} />
  return all ? streamedPage(c, wholeFeed(feed, row, guest, `<!doctype html>${renderToStaticMarkup(shown)}`)) : page(c, shown)
}

/** All that a session's page shows, with a window on its feed. */
export const sessionViewOf = async (
  services: Services,
  row: SessionWithDoc,
  teams: RosterRow[],
  window: FeedWindow | Promise<FeedWindow>,
  agent?: SessionAgent,
): Promise<SessionView> => {
  const { database } = services
  const { session } = row
  const [feed, document, talk, sides] = await Promise.all([
    window,
    documentOf(database, session.id),
    activityOf(database, session.id, SLOTS),
    readSides(database, session.id, services.config.CLAIM_LEASE),
  ])
  return {
    ...sessionStateOf(services, row, teams, sides),
    startedAt: session.createdAt,
    messages: messageCount(talk),
    lanes: activityLanes(talk, teamLookup(teams)),
    document,
    cursor: session.lastConversationSequence,
    feed,
    agent,
  }
}
