import { ConnectPage } from '../../../components/site/connect-page.tsx'
import { existingSession } from '../../rooms/preconditions.ts'
import type { ServerLink } from '../../core/server-link.ts'
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
  const frame = frameOf(c, site)
  return page(c, <ConnectPage frame={frame} link={serverLink(c, services)} program={programUrl(c, site)} session={invited} />)
}

/** How this server is reached, with the program `parley`. */
export const linkOnPages = (c: Http, site: Site): ServerLink => ({ ...serverLink(c, site.services), program: programUrl(c, site) })

/** Where the program `parley` is, for the line that connects; undefined where this server has none. */
export const programUrl = (c: Http, { services, program }: Site): string | undefined =>
  program && baseUrl(c, services) + programPath(program)
