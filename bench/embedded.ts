// What an operation costs on the embedded database, whose statements are prepared, beside the same database with each statement parsed and
// planned anew. Both in this process, in turns; in memory, so that no disk is measured.
//   bun bench/embedded.ts [calls a turn, 300]
import { PGlite } from '@electric-sql/pglite'
import { queriesOver, unlessLate, type Database, type RunStatement } from '../db/database.ts'
import { databaseOn, OPTIONS } from '../db/pglite.ts'
import { done, room, say, startParley, viaRest } from '../tests/support/parley.ts'
import { dumpOfEmpty } from '../tests/support/pglite.ts'
import { load, median, row, spread } from './support.ts'

const CALLS = Number(process.argv[2] ?? 300)
const ROUNDS = 5

const plain = async (client: PGlite): Promise<Database> => {
  const over =
    (on: Pick<PGlite, 'query'>): RunStatement =>
    async ({ text, params, asArrays }) =>
      (await on.query(text, params, { rowMode: asArrays ? 'array' : 'object' })).rows
  const transaction: Database['transaction'] = (work, ms) =>
    client.transaction((tx) => unlessLate(work, ms)(queriesOver(over(tx as never))))
  return { ...(await databaseOn(client)), ...queriesOver(over(client)), transaction, unhurried: transaction }
}

const OPERATIONS = {
  post_message: ({ alex }: Room, n: number) => say(alex, `We split the task, ${n}.`),
  list_participants: ({ alex }: Room) => done(alex('list_participants')),
  wait_for_messages: ({ alex }: Room) => done(alex('wait_for_messages', { since_cursor: 0, timeout: 0 })),
  catch_up: ({ alex }: Room) => done(alex('catch_up')),
  append_to_session_doc: ({ alex }: Room, n: number) => done(alex('append_to_session_doc', { text: `- ${n % 7}` })),
}
type Room = Awaited<ReturnType<typeof room>>

const copy = await dumpOfEmpty()
const open = async (make: (client: PGlite) => Promise<Database>) => {
  const database = await make(await PGlite.create({ ...OPTIONS, loadDataDir: copy }))
  return startParley({ engine: 'pglite', opened: { database, drop: async () => {} } })
}
const sides = { 'each anew': await open(plain), prepared: await open(databaseOn) }

console.log(`Bun ${Bun.version}, ${CALLS} calls in each of ${ROUNDS} turns after one to warm up`)
load()
for (const [name, operation] of Object.entries(OPERATIONS)) {
  const took: Record<string, number[]> = { 'each anew': [], prepared: [] }
  for (let round = 0; round <= ROUNDS; round++)
    for (const [side, parley] of Object.entries(sides)) {
      const at = await room(viaRest(parley))
      for (let n = 0; n < CALLS; n++) {
        const from = performance.now()
        await operation(at, n)
        if (round > 0) took[side]!.push(performance.now() - from)
      }
    }
  for (const [side, ms] of Object.entries(took)) row(`${name}, ${side}`, `${spread(ms)} ms`)
  row(`${name}, ratio of the medians`, `${(median(took['each anew']!) / median(took.prepared!)).toFixed(2)} x`)
}
load()
process.exit(0)
