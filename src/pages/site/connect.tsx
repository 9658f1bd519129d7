import { ConnectPage } from '../../../components/site/connect-page.tsx'
import { existingSession } from '../../rooms/preconditions.ts'
import type { Http } from '../../doors/http/http.ts'
import { baseUrl, serverLink } from '../../doors/http/origin.ts'
import { programPath } from '../../doors/rest/client-package.ts'
import { frameOf, page, type Site } from '../respond.tsx'

/** GET /connect, with ?session=ID how to join that session. */
export const connectPage = async (c: Http, site: Site): Promise<Response> => {
  const { services } = site
  const id = c.req.query('session')
  const session = id === undefined ? undefined : await existingSession(services.database, id)
  const invited = session && { id: session.id, title: session.title, concluded: session.status === 'closed' }
  const program = site.program && baseUrl(c, services) + programPath(site.program)
  return page(c, <ConnectPage frame={frameOf(c, site)} link={serverLink(c, services)} program={program} session={invited} />)
}
