// The page on which a person shares a session: with people outside, by a link to read (doors/http/share-link.ts decides what it opens), and
// with agents, by invitations.
import { SharePage } from '../../../components/session/share-page.tsx'
import { agoInWords, moment } from '../../../components/parts/time.ts'
import { STATUS, type ErrorBody } from '../../core/errors.ts'
import { escapeInvisible } from '../../core/text/escape-invisible.ts'
import { createInvitation, revokeInvitation } from '../../rooms/invitations.ts'
import { existingSession } from '../../rooms/preconditions.ts'
import { shareSession, unshareSession } from '../../rooms/sharing.ts'
import { invitationsOf, type Invitation } from '../../stores/invitations.ts'
import { shareOf } from '../../stores/shares.ts'
import { personOf } from '../../doors/http/cookies.ts'
import type { Http } from '../../doors/http/http.ts'
import { performAsPerson, assertActor, nextIdempotencyKey, problemOf } from '../forms/perform-as-person.ts'
import { frameOf, page, seeOther, toSignIn, type Site } from '../respond.tsx'
import { formOf, valuesOf } from '../forms/fields.ts'

/** GET /sessions/:id/share */
export const sharePage = async (c: Http, site: Site): Promise<Response> => {
  if (!personOf(c, site.services)) return toSignIn(c, site)
  assertActor(c, site)
  return renderShare(c, site, {})
}

/** POST /sessions/:id/share: makes a link and shows it, this one time. */
export const makeShare = async (c: Http, site: Site): Promise<Response> => {
  const idempotencyKey = (await formOf(c)).get('key') ?? undefined
  const outcome = await performAsPerson(c, site, shareSession, idempotencyKey, { session_id: c.req.param('id') })
  if (outcome.ok) return renderShare(c, site, { url: String(outcome.data.url) })
  assertActor(c, site) // a stranger is told nothing about the session
  return renderShare(c, site, { error: outcome.error })
}

/** POST /sessions/:id/unshare */
export const endShare = async (c: Http, site: Site): Promise<Response> => {
  const outcome = await performAsPerson(c, site, unshareSession, undefined, { session_id: c.req.param('id') })
  if (outcome.ok) return seeOther(c, `/sessions/${c.req.param('id')}/share`)
  assertActor(c, site)
  return renderShare(c, site, { error: outcome.error })
}

/** POST /sessions/:id/invite: `joins`, `days`. Makes an invitation and shows its link, this one time. */
export const makeInvitation = async (c: Http, site: Site): Promise<Response> => {
  const { key: idempotencyKey, joins, days } = valuesOf(await formOf(c))
  const input = { session_id: c.req.param('id'), joins: Number(joins), days: Number(days) }
  const outcome = await performAsPerson(c, site, createInvitation, idempotencyKey, input)
  if (outcome.ok) return renderShare(c, site, { invited: String(outcome.data.url) })
  assertActor(c, site)
  return renderShare(c, site, { notInvited: outcome.error })
}

/** POST /sessions/:id/uninvite: `invitation_id`. */
export const endInvitation = async (c: Http, site: Site): Promise<Response> => {
  const invitation_id = (await formOf(c)).get('invitation_id') ?? ''
  const outcome = await performAsPerson(c, site, revokeInvitation, undefined, { session_id: c.req.param('id'), invitation_id })
  if (outcome.ok) return seeOther(c, `/sessions/${c.req.param('id')}/share`)
  assertActor(c, site)
  return renderShare(c, site, { notInvited: outcome.error })
}

interface SharePageParts {
  url?: string
  error?: ErrorBody
  invited?: string
  notInvited?: ErrorBody
}

const renderShare = async (c: Http, site: Site, { url, error, invited, notInvited }: SharePageParts) => {
  const { database, clock } = site.services
  const { id, title, status, archivedAt } = await existingSession(database, c.req.param('id') ?? '')
  const [share, invitations] = await Promise.all([shareOf(database, id), invitationsOf(database, id)])
  const view = {
    id,
    title: escapeInvisible(title),
    shared: share && {
      by: escapeInvisible(share.by),
      age: agoInWords(share.at, clock.now()),
    },
    url,
    problem: error && problemOf(error).text,
    idempotencyKey: nextIdempotencyKey(undefined),
  }
  const invite = {
    url: invited,
    problem: notInvited && problemOf(notInvited).text,
    closed: archivedAt !== null ? ARCHIVED : status === 'closed' ? CONCLUDED : undefined,
    idempotencyKey: nextIdempotencyKey(undefined),
    invitations: invitations.filter((one) => isGood(one, clock.now())).map(invitationView),
  }
  const frame = { ...frameOf(c, site), path: `/sessions/${id}/share` }
  const wrong = error ?? notInvited
  return page(c, <SharePage frame={frame} session={view} invite={invite} />, wrong && STATUS[wrong.code])
}

const ARCHIVED = 'The session is archived. Bring it back to invite agents.'
const CONCLUDED = 'The session is concluded. Resume or reopen it to invite agents.'

const isGood = ({ revokedAt, expiresAt, joined, joins }: Invitation, nowMs: number) =>
  revokedAt === null && Date.parse(expiresAt) > nowMs && joined < joins

const invitationView = ({ id, madeBy, joined, joins, expiresAt }: Invitation) => ({
  id,
  text: `Made by ${escapeInvisible(madeBy)}: ${joined} of ${joins} have joined. Good until ${moment(expiresAt)}.`,
})
