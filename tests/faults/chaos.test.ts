// What control and records promise holds while three instances on one Postgres are killed, frozen and cut off in one direction, and their
// clocks step: teams share out work, agents are given tasks and fork, people decide, keys are made and revoked. Every acknowledgement goes
// into a book, and the book is held against what is in the database.
//   FULL=1 bun test tests/faults/chaos.test.ts    eighty disturbances, among them of the database, which fails over to its standby half-way
import { expect, test } from 'bun:test'
import postgres from 'postgres'
import { FULL } from '../support/full.ts'
import { giveWork } from './chaos/agents.ts'
import { shareOutWork } from './chaos/board.ts'
import { decide } from './chaos/decisions.ts'
import { databaseFrozen, databaseKilled, DISTURBANCES, startCluster, type Cluster, type Disturbance } from './chaos/instances.ts'
import { useKeys } from './chaos/keys.ts'
import { setScene } from './chaos/scene.ts'

const EACH = Object.keys(DISTURBANCES) as Disturbance[]
const ROUNDS = FULL ? 16 : 1 // of each disturbance once, in any order, at any instance
const MAY_TAKE_MS = FULL ? 1_800_000 : 300_000 // for what hangs

const shuffled = <One>(all: readonly One[]): One[] =>
  all
    .map((one) => [Math.random(), one] as const)
    .toSorted(([a], [b]) => a - b)
    .map(([, one]) => one)

// Each round deals the disturbances out to the instances, which go through theirs beside each other.
const disturb = async (cluster: Cluster) => {
  for (let round = 0; round < ROUNDS; round++) {
    const dealt = shuffled(EACH)
    await Promise.all(
      cluster.instances.map(async (instance, n) => {
        for (const name of dealt.filter((_, nth) => nth % cluster.instances.length === n)) {
          await DISTURBANCES[name](instance)
          await Bun.sleep(Math.random() * 500)
        }
      }),
    )
    if (!FULL) continue
    if (round === ROUNDS / 2) await cluster.failOver!()
    else if (round < ROUNDS / 2) await (round % 2 === 0 ? databaseFrozen : databaseKilled)(cluster)
  }
}

test(
  'tasks, claims, decisions, keys and genealogy are whole after every disturbance, and nothing acknowledged is lost [P2] [E14] [E15]',
  async () => {
    const cluster = await startCluster({ standby: FULL })
    try {
      const scene = await setScene(cluster)
      const parts = await Promise.all([shareOutWork(scene), giveWork(scene), decide(scene), useKeys(scene)])
      const working = Promise.all(parts.map(({ done }) => done))
      await Promise.race([disturb(cluster), working]) // what fails meanwhile is told at once
      scene.over.now = true
      await working
      const sql = postgres(cluster.databaseUrl(), { max: 1, onnotice() {} })
      const figures = []
      for (const { verdict } of parts) figures.push(await verdict(sql))
      await sql.end()
      expect(cluster.instances.map(({ server }) => server.running)).toEqual([true, true, true])
      console.log(`${ROUNDS * EACH.length} disturbances: ${figures.join('; ')}`)
    } finally {
      await cluster.close()
    }
  },
  MAY_TAKE_MS,
)
