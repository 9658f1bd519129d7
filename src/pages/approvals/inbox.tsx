// The inbox: what waits for a person, what was decided, what expired.
import { z } from 'zod'
import { InboxPage, PastPage } from '../../../components/approvals/inbox-page.tsx'
import { INBOX_TABS, type TogetherOutcome } from '../../../components/approvals/inbox-view.ts'
import { isUuid } from '../../core/ids.ts'
import { inYears } from '../../core/years.ts'
import { actorOf } from '../../doors/http/cookies.ts'
import type { Http } from '../../doors/http/http.ts'
import { existingSession } from '../../rooms/preconditions.ts'
import { decidedSince } from '../../stores/records/proposal-context.ts'
import { decidedProposals, listProposals, type ListedProposal } from '../../stores/records/proposal-list.ts'
import { frameOf, page, type Site } from '../respond.tsx'
import { proposalViews } from './card-view.ts'
import { readNeedy, readWaiting, todaysBegin } from './inbox-waiting.ts'
import type { ListPosition } from '../../stores/list-position.ts'

const PAST_SHOWN = 30
const MOST_DONE = 100

/** GET /approvals: what waits, of one session with ?meeting=; ?show=decided, ?show=expired: what does no more, from ?before= on. ?done=ID, any
 *  number of times: what was decided on this visit. */
export const inboxPage = async (c: Http, site: Site): Promise<Response> => {
  const tab = INBOX_TABS.find((name) => name === c.req.query('show')) ?? 'waiting'
  return tab === 'waiting' ? waitingPage(c, site) : pastPage(c, site, tab)
}

/** `outcomes`: of proposals that were approved together, `done` among them. */
export const waitingPage = async (c: Http, site: Site, outcomes: TogetherOutcome[] = [], done = doneIn(c)): Promise<Response> => {
  const { services } = site
  const { database, clock } = services
  const meeting = await meetingIn(c, site)
  const [waiting, needy, today] = await Promise.all([
    readWaiting(services, meeting?.id, done),
    readNeedy(database, services.wakes.perHour(), meeting?.id),
    decidedSince(database, todaysBegin(clock.now())),
  ])
  await site.waiting.read()
  const asked = site.waiting.askedOf(actorOf(c, services)).filter(({ session }) => !meeting || session.id === meeting.id)
  const frame = c.req.method === 'GET' ? frameOf(c, site) : { ...frameOf(c, site), path: '/approvals' }
  return page(c, <InboxPage {...{ frame, meeting, asked, now: clock.now(), waiting, needy, today, outcomes }} />)
}

const doneIn = (c: Http): string[] => (c.req.queries('done') ?? []).filter(isUuid).slice(0, MOST_DONE)

const meetingIn = async (c: Http, { services }: Site) => {
  const id = c.req.query('meeting')
  return id ? existingSession(services.database, id) : undefined
}

const pastPage = async (c: Http, site: Site, tab: 'decided' | 'expired'): Promise<Response> => {
  const { services } = site
  const meeting = await meetingIn(c, site)
  const filter = { sessionId: meeting?.id, after: beforeIn(c), limit: PAST_SHOWN + 1 }
  const rows =
    tab === 'decided'
      ? await decidedProposals(services.database, filter)
      : await listProposals(services.database, { ...filter, status: 'expired' })
  const shown = rows.slice(0, PAST_SHOWN)
  const proposals = await proposalViews(services, services.database, shown)
  const before = rows.length > PAST_SHOWN ? placeOf(tab, shown.at(-1)!) : undefined
  return page(c, <PastPage {...{ frame: frameOf(c, site), tab, meeting, proposals, before }} />)
}

const placeOf = (tab: 'decided' | 'expired', { proposal }: ListedProposal): string =>
  `${tab === 'decided' ? proposal.resolvedAt : proposal.createdAt}_${proposal.id}`

// A place that was changed by hand shows the newest.
const beforeIn = (c: Http): ListPosition | undefined => {
  const [at = '', id = ''] = (c.req.query('before') ?? '').split('_')
  return isUuid(id) && z.iso.datetime().refine(inYears).safeParse(at).success ? { at, id } : undefined
}
