import { runnerLine } from '../../control/runner/start-line.ts'
import type { Http } from '../../doors/http/http.ts'
import { baseUrl } from '../../doors/http/origin.ts'
import { programPath } from '../../doors/rest/client-package.ts'
import type { Site } from '../respond.tsx'

/** The line that starts a runner for this server, with a key or the place for one. */
export const runnerCommand = (c: Http, { services, program }: Site, key = '…'): string => {
  const base = baseUrl(c, services)
  return runnerLine(base, program && base + programPath(program), key)
}
