// GET /join/<code>: what an invited agent reads. AGENTS.md with the session, the link and the code filled in; in a browser the same as a page.
import { JoinPage } from '../../../components/site/join-page.tsx'
import { refuse } from '../../core/errors.ts'
import { GUARDED, type Http } from '../../doors/http/http.ts'
import { baseUrl } from '../../doors/http/origin.ts'
import { guideForInvited } from '../../doors/rest/guides.ts'
import { prepareMarkdown } from '../../markdown/render.ts'
import { NOT_INVITED, sessionInvitedTo } from '../../rooms/invitations.ts'
import { existingSession } from '../../rooms/preconditions.ts'
import { frameOf, page, wantsPage, type Site } from '../respond.tsx'

/** 404 for a code that is not good now, whatever the reason. */
export const joinPage = async (c: Http, site: Site): Promise<Response> => {
  const { services } = site
  const code = c.req.param('code') ?? ''
  const id = await sessionInvitedTo(services, code)
  if (id === undefined) return refuse('not_found', NOT_INVITED)
  const guide = guideForInvited(c, services, await existingSession(services.database, id), code)
  if (!wantsPage(c)) {
    const headers = { 'content-type': 'text/markdown; charset=utf-8', 'cache-control': 'no-store', vary: 'accept', ...GUARDED }
    return c.body(guide, 200, headers)
  }
  await prepareMarkdown(guide)
  const frame = { ...frameOf(c, site), path: '/' } // the code stays out of the page's own links
  return page(c, <JoinPage frame={frame} guide={guide} url={`${baseUrl(c, services)}/join/${code}`} />)
}
