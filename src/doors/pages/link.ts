import type { Link } from '../../../components/snippets.ts'
import type { Services } from '../../services.ts'
import type { Http } from '../http.ts'
import { baseUrl, linkInForce } from '../origin.ts'

/** The current link, for snippets. */
export const linkOf = (c: Http, services: Services): Link => ({
  url: linkInForce(c, services).url,
  base: baseUrl(c, services),
  token: services.config.ACCESS_TOKEN !== undefined,
})
