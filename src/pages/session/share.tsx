// The page on which a person shares a session with people outside. doors/http/share-link.ts decides what the link opens.
import { SharePage } from '../../../components/session/share-page.tsx'
import { ago } from '../../../components/parts/time.ts'
import { STATUS, type ErrorBody } from '../../core/errors.ts'
import { escapeInvisible } from '../../core/escape-invisible.ts'
import { existingSession } from '../../rooms/preconditions.ts'
import { shareSession, unshareSession } from '../../rooms/sharing.ts'
import { shareOf } from '../../stores/shares.ts'
import { personOf } from '../../doors/http/cookies.ts'
import type { Http } from '../../doors/http/http.ts'
import { performAsPerson, assertActor, nextKey, problemOf } from '../forms/perform-as-person.ts'
import { frameOf, page, seeOther, toSignIn, type Site } from '../respond.tsx'
import { formOf } from '../form.ts'

/** GET /sessions/:id/share */
export const sharePage = async (c: Http, site: Site): Promise<Response> => {
  if (!personOf(c, site.services)) return toSignIn(c, site)
  assertActor(c, site)
  return renderShare(c, site, {})
}

/** POST /sessions/:id/share: makes a link and shows it, this one time. */
export const makeShare = async (c: Http, site: Site): Promise<Response> => {
  const key = (await formOf(c)).get('key') ?? undefined
  const outcome = await performAsPerson(c, site, shareSession, key, { session_id: c.req.param('id') })
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

const renderShare = async (c: Http, site: Site, { url, error }: { url?: string; error?: ErrorBody }) => {
  const { database, clock } = site.services
  const { id, title } = await existingSession(database, c.req.param('id') ?? '')
  const share = await shareOf(database, id)
  const view = {
    id,
    title: escapeInvisible(title),
    shared: share && {
      by: escapeInvisible(share.by),
      age: clock.now() - Date.parse(share.at) < 60_000 ? 'just now' : `${ago(share.at, clock.now())} ago`,
    },
    url,
    problem: error && problemOf(error).text,
    idempotencyKey: nextKey(undefined),
  }
  return page(c, <SharePage frame={{ ...frameOf(c, site), path: `/sessions/${id}/share` }} session={view} />, error && STATUS[error.code])
}
