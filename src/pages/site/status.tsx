// The status page: how each instance is, and what they share, with what to do.
import { StatusPage, StatusParts } from '../../../components/site/status-page.tsx'
import type { Http } from '../../doors/http/http.ts'
import { frameOf, fragment, page, type Site } from '../respond.tsx'

/** GET /status; an open page gets the part of it that changes. */
export const statusPage = async (c: Http, site: Site): Promise<Response> => {
  const status = await site.services.status.read()
  if (c.req.header('hx-request')) return fragment(c, <StatusParts status={status} />)
  return page(c, <StatusPage frame={frameOf(c, site)} status={status} />)
}
