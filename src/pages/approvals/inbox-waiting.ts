// What waits for a person, read for the inbox: a constant number of statements, however much waits.
import type { AskedFor, InboxGroup, NeedyView, Together, WaitingView } from '../../../components/approvals/inbox-view.ts'
import type { ProposalView } from '../../../components/approvals/proposal-view.ts'
import type { Queries } from '../../../db/database.ts'
import { sha256 } from '../../core/ids.ts'
import { needsOfSessions, type Need } from '../../loops/store.ts'
import type { Services } from '../../process/services.ts'
import { requestsOf, type WatchedRequest } from '../../stores/control/watched.ts'
import { listProposals, proposalsByIds, type ListedProposal } from '../../stores/records/proposal-list.ts'
import { waitingRequests } from '../../stores/records/waiting.ts'
import { titlesOf } from '../../stores/sessions.ts'
import { permissionView } from '../agents/permission-view.ts'
import { proposalViews } from './card-view.ts'

export const MOST_WAITING = 200 // proposals, and requests, that a page shows
const AT_ONCE = 3 // proposals of one team from which on they can be approved together

type InboxServices = Pick<Services, 'clock' | 'config' | 'database'>

/** `done`: the ids of proposals that were decided on this visit, and stay where they were. */
export const readWaiting = async (services: InboxServices, meeting: string | undefined, done: string[]): Promise<WaitingView> => {
  const { database, config } = services
  const [pending, kept, named] = await Promise.all([
    listProposals(database, { status: 'pending', sessionId: meeting, limit: MOST_WAITING + 1 }),
    proposalsByIds(database, done),
    waitingRequests(database, config.PERMISSION_WAIT, MOST_WAITING),
  ])
  const shown = pending.slice(0, MOST_WAITING)
  const ids = new Set(shown.map(({ proposal }) => proposal.id))
  const rows = [...shown, ...kept.filter(({ proposal }) => !ids.has(proposal.id))].toSorted(byAge)
  const asked = await requestsOf(
    database,
    named.filter(({ session_id }) => meeting === undefined || session_id === meeting),
  )
  return {
    requests: await askedFor(services, asked),
    groups: groupsOf(await proposalViews(services, database, rows)),
    more: pending.length > MOST_WAITING,
  }
}

const byAge = ({ proposal: a }: ListedProposal, { proposal: b }: ListedProposal) =>
  Date.parse(a.createdAt) - Date.parse(b.createdAt) || (a.id < b.id ? -1 : 1)

export const askedFor = async ({ database, config }: InboxServices, requests: WatchedRequest[]): Promise<AskedFor[]> => {
  const titles = await titlesOf(database, [...new Set(requests.map(({ session_id }) => session_id))])
  return requests.map((request) => ({
    session: { id: request.session_id, title: titles.get(request.session_id) ?? '' },
    card: permissionView(request, config.PERMISSION_WAIT),
  }))
}

/** By session, in the order in which their first ones come. */
export const groupsOf = (cards: ProposalView[]): InboxGroup[] =>
  [...Map.groupBy(cards, ({ session }) => session.id).values()].map((own) => ({
    session: own[0]!.session,
    cards: own,
    together: togetherOf(own),
  }))

const togetherOf = (cards: ProposalView[]): Together[] =>
  [...Map.groupBy(cards, ({ status, by }) => (status === 'pending' ? by.name : undefined))]
    .filter(([name, own]) => name !== undefined && own.length >= AT_ONCE)
    .map(([name, own]) => ({
      anchor: `together-${sha256(`${own[0]!.session.id}\n${name}`).slice(0, 12)}`,
      team: own[0]!.by,
      proposals: own.map(({ id, title, idempotencyKey }) => ({ id, title, idempotencyKey })),
    }))

const WHY: Record<Need, string> = {
  loop_suspected: 'The teams say the same again and again',
  wakes_used_up: 'Messages wake its sleeping teams no more',
}
const MOST_NEEDY = 50

/** The sessions that need a person for something else. */
export const readNeedy = async (queries: Queries, wakesPerHour: number, meeting?: string): Promise<NeedyView[]> => {
  const needs = await needsOfSessions(queries, wakesPerHour, MOST_NEEDY)
  const here = needs.filter(({ sessionId }) => meeting === undefined || sessionId === meeting)
  const titles = await titlesOf(
    queries,
    here.map(({ sessionId }) => sessionId),
  )
  return here.map(({ sessionId, reason }) => ({ id: sessionId, title: titles.get(sessionId) ?? '', why: WHY[reason] }))
}

/** The beginning of this day. */
export const todaysBegin = (now: number): string => `${new Date(now).toISOString().slice(0, 10)}T00:00:00Z`
