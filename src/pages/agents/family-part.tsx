import { renderToStaticMarkup } from 'react-dom/server'
import { Family } from '../../../components/agents/family.tsx'
import { refuse } from '../../core/errors.ts'
import { mayRead } from '../../doors/http/guards.ts'
import type { Http } from '../../doors/http/http.ts'
import { existingSession } from '../../rooms/preconditions.ts'
import { partial } from '../live/partial.ts'
import { htmlResponse, type Site } from '../respond.tsx'
import { familyOf } from './family.ts'

/** GET /sessions/:id/family: the tree of sessions as the session's page shows it. Other sessions' names are for those who may read all of them. */
export const familyPart = async (c: Http, site: Site, id: string): Promise<Response> => {
  if (!mayRead(c, site.services)) return refuse('unauthorized', 'Sign in to see other sessions.')
  const { database } = site.services
  const session = await existingSession(database, id)
  const html = renderToStaticMarkup(<Family family={await familyOf(database, session.id)} here={session.id} />)
  return htmlResponse(c, partial('#family', 'outerMorph', html))
}
