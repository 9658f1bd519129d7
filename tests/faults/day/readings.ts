// All that can be read of a server in which something has happened: its pages and files, and what its operations answer.
import { READ_PATHS } from '../../../src/pages/routes.tsx'
import { operations, restRequest, type As } from '../../support/parley.ts'

/** What has come to be, by its id. */
export interface Places {
  room: string
  driven: string
  imported: string
  item: string
  proposal: string
  record: string
  worktree: string
}

const PARTS = ['rows?after=0&until=9', 'tasks/1', 'family', 'document?version=1'].map((part) => `/sessions/:id/${part}`)
const HANDOFF = '/api/sessions/:id/handoff.md'
export const FILES = ['/api/config', '/api/openapi.json', '/AGENTS.md', '/llms.txt', '/metrics', '/api/status', '/alerts.yml']

const isOfSession = (path: string) => path.includes('/sessions/:id')
export const OF_SESSION = [...READ_PATHS.filter(isOfSession), ...PARTS, HANDOFF]
export const OF_ALL = [...READ_PATHS.filter((path) => !isOfSession(path)), '/approvals/cards', ...FILES]

/** A route's path as it is asked for. */
export const filled = (route: string, session: string, { proposal, ...places }: Places): string =>
  route
    .replace(/:id\{[^}]*md\}/, `${session}.md`)
    .replace(/:file\{.*(md|txt)\}/, '1.$1')
    .replace('/approvals/:id', `/approvals/${proposal}`)
    .replace(':id', session)
    .replace(':form', 'edit')
    .replace(':turn', '1')
    .replace(/:(item|record|worktree)/, (_, name) => places[name as 'item'])

const READS = operations.filter(({ effect }) => effect === 'read')

/** The requests by which this caller asks all that can be asked, of the room where a session must be named. */
export const readings = ({ room: session_id, proposal }: Places, as: As) => {
  const values = { session_id, meeting_id: session_id, id: `session:${session_id}`, proposal_id: proposal, query: 'lexer' }
  const given = { ...values, timeout: 0, since_cursor: 0 }
  return READS.map(({ fullName, input }) =>
    restRequest(fullName, Object.fromEntries(Object.entries(given).filter(([field]) => field in input.shape)), as),
  )
}
