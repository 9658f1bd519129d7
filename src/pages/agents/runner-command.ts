import type { Http } from '../../doors/http/http.ts'
import { baseUrl } from '../../doors/http/origin.ts'
import { programPath } from '../../doors/rest/client-package.ts'
import type { Site } from '../respond.tsx'

/** The line that starts a runner for this server, with a key or the place for one. A server that hands out no client program is run from a
 *  checkout, which has it. */
export const runnerCommand = (c: Http, { services, program }: Site, key = '…'): string => {
  const base = baseUrl(c, services)
  const start = program ? `npx -y ${base}${programPath(program)} runner` : 'bun run runner'
  return `PARLEY_RUNNER_KEY=${key} ${start} --url ${base}`
}
