// What waits for a person: proposals to decide, and what running agents ask permission for.
import type { Queries } from '../../../db/database.ts'
import { isOpen } from '../control/permission-requests.ts'

// Nobody can decide on what an archived session asks, until it is brought back.
const NOT_ARCHIVED = 'not exists (select from sessions s where s.id = p.session_id and s.archived_at is not null)'
const PROPOSED = `p.status = 'pending' and p.expires_at > clock_timestamp() and ${NOT_ARCHIVED}`
const REQUESTED = `${isOpen('p', '$1')} and ${NOT_ARCHIVED}`

// Each count reads a partial index that holds what is open and nothing else: two looks where nothing is.
const COUNT = `select (select count(*)::int from proposals p where ${PROPOSED})
  + (select count(*)::int from permission_requests p where ${REQUESTED}) as waiting`

/** How many wait. `permissionWait`: PERMISSION_WAIT, in seconds. */
export const countWaiting = async ({ query }: Queries, permissionWait: number): Promise<number> => {
  const [row] = await query<{ waiting: number }>(COUNT, [permissionWait])
  return row!.waiting
}

interface WaitingThing {
  id: string
  session_id: string
}

export interface WaitingProposal extends WaitingThing {
  created_at: string
  expires_at: string
}

/** The proposals that wait, the oldest first. */
export const waitingProposals = ({ query }: Queries, limit: number): Promise<WaitingProposal[]> =>
  query(`select p.id, p.session_id, p.created_at, p.expires_at from proposals p where ${PROPOSED} order by p.created_at, p.id limit $1`, [
    limit,
  ])

/** The ids of the requests that wait, the oldest first. */
export const waitingRequests = ({ query }: Queries, permissionWait: number, limit: number): Promise<WaitingThing[]> =>
  query(`select p.id, p.session_id from permission_requests p where ${REQUESTED} order by p.asked_at, p.id limit $2`, [
    permissionWait,
    limit,
  ])
