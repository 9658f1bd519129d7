// A claim whose lease is over reads as open at once. Here that is written down and the session is told, by whichever instance comes first.
import { z } from 'zod'
import { wasAway, type Job } from '../core/runtime/job.ts'
import { anyone } from '../operations/callers.ts'
import type { Context } from '../operations/context.ts'
import { operationsOf } from '../operations/operation.ts'
import { perform } from '../operations/perform.ts'
import type { Services } from '../process/services.ts'
import { plainArray } from '../../db/arrays.ts'
import { lapsedSessions, renewClaims, renewLapsed } from '../stores/records/leases.ts'
import { endLapsed } from './locked-board.ts'

const EVERY_MS = 4_000 // the session is told within 5 s
const RENEWED_EVERY_MS = 1_000

const { internalOp } = operationsOf<Context>('board')

const releaseLapsedWork = internalOp({
  name: 'release_lapsed_work',
  summary: 'Opens what is claimed in a session and whose lease is over.',
  callers: [anyone],
  effect: 'write',
  input: z.strictObject({ session_id: z.string() }),
  output: z.object({}),
  refuses: [],
  async run(context) {
    await endLapsed(context, context.session!)
    return {}
  },
})

/** Teams cannot call while this server, where it has no peer, or the database is away, or the machine sleeps, and once the database's clock was
 *  set, their last calls are of another time. A claim whose lease was over by that has its whole time once more. */
export const lapsedJob = (services: Services): Job => {
  const { database, config, stopping, mayHavePeers } = services
  let checkedAt: number | undefined
  let wasDatabaseAway = false
  const look = async () => {
    await renewClaims(database, plainArray([]), config.CLAIM_LEASE) // of agents at work, who need not call
    return lapsedSessions(database, config.CLAIM_LEASE)
  }
  return {
    name: 'claim-leases',
    everyMs: EVERY_MS,
    async run() {
      const { sessions, atMs } = await look().catch((error) => {
        wasDatabaseAway = true
        throw error
      })
      const isBack = checkedAt === undefined || wasAway(atMs - checkedAt)
      const nobodyCould = isBack && (wasDatabaseAway || !mayHavePeers())
      checkedAt = atMs
      wasDatabaseAway = false
      if (nobodyCould) return renewLapsed(database, config.CLAIM_LEASE)
      for (const session_id of sessions) await perform(releaseLapsedWork, services, { signal: () => stopping }, { session_id })
    },
  }
}

/** Renews the claims of teams that called, once a second and where that is due: a team that calls is at work. */
export const renewalJob = (services: Services): Job => {
  const { database, config, calledTeams } = services // not those that wait, which counts by presence, or peek, which is no work
  return {
    name: 'claim-renewals',
    everyMs: RENEWED_EVERY_MS,
    async run() {
      if (calledTeams.size === 0) return
      const teams = [...calledTeams]
      calledTeams.clear()
      try {
        await renewClaims(database, plainArray(teams), config.CLAIM_LEASE)
      } catch (error) {
        for (const team of teams) calledTeams.add(team)
        throw error
      }
    },
  }
}
