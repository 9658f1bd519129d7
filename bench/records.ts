// What reading records costs among 10,000 sessions, 100,000 records and 20,000 persons, and claiming work on a board with 500 items and 50
// teams: over REST, one call after the other, on both databases. `bun bench/records.ts [pglite|postgres] [sessions]`
import { personIdOf } from '../src/stores/records/persons.ts'
import { manyRecords } from '../tests/support/many-records.ts'
import { bearer, keyOf } from '../tests/support/keys.ts'
import { done, room, startParley, viaRest, type Call, type Engine, type Parley } from '../tests/support/parley.ts'
import { load, row, spread } from './support.ts'

const ENGINES: readonly Engine[] = ['postgres', 'pglite']
const SESSIONS = Number(process.argv[3] ?? 10_000)
const ROUNDS = 40
const [ITEMS, TEAMS] = [500, 50]

const timed = async (took: number[], work: () => Promise<unknown>) => {
  const from = performance.now()
  await work()
  took.push(performance.now() - from)
}

/** The cursor of the page so many pages further on. */
const cursorAfter = async (list: (input: object) => Promise<any>, pages: number): Promise<string> => {
  let cursor: string | undefined
  for (let n = 0; n < pages; n++) cursor = (await list(cursor === undefined ? {} : { cursor })).next_cursor ?? cursor
  return cursor!
}

const titlesIn = async ({ database }: Parley) => {
  const rows = await database.query<{ title: string; description: string }>(
    'select title, description from decisions order by id limit 200',
  )
  return rows
}

/** A letter left out and two swapped. */
const misspelt = (title: string) => title.replace(/^(\S)(\S)(.*)(\S)\S$/, '$2$1$3$4')

const reading = async (parley: Parley) => {
  const headers = bearer(await keyOf(parley, 'read'))
  const ask = async (name: string, input: object): Promise<any> => {
    const response = await parley.send(`/api/records/${name}`, { method: 'POST', headers, body: JSON.stringify(input) })
    const answer = await response.json()
    if (!response.ok) throw new Error(JSON.stringify(answer))
    return answer
  }
  const team = personIdOf('team', 'Team 4')
  const { meetings } = await ask('get_meetings', { limit: 1 })
  const meeting_id = meetings[0].meeting_id
  const rows = await titlesIn(parley)
  const searches = (queryOf: (row: (typeof rows)[number]) => string) => (n: number) => ({
    query: queryOf(rows[n % rows.length]!).slice(0, 200),
  })
  const calls: [string, string, (n: number) => object][] = [
    ['get_meetings, 20', 'get_meetings', () => ({})],
    ['get_meetings, 50', 'get_meetings', () => ({ limit: 50 })],
    ['get_meetings of an attendee', 'get_meetings', () => ({ attendee_id: team })],
    ['get_meeting_details', 'get_meeting_details', () => ({ meeting_id })],
    ['get_action_items, 20', 'get_action_items', () => ({})],
    ['get_action_items, 50', 'get_action_items', () => ({ limit: 50 })],
    ['get_action_items that are dropped', 'get_action_items', () => ({ status: 'dropped' })],
    ['get_action_items of an owner', 'get_action_items', () => ({ owner_id: team })],
    ['get_decisions, 20', 'get_decisions', () => ({})],
    [
      'get_decisions with two words',
      'get_decisions',
      (n) => ({ search: searches(({ title }) => title.split(' ').slice(0, 2).join(' '))(n).query }),
    ],
    ['get_person_context', 'get_person_context', () => ({ person_id: team })],
    ['get_proposals that are approved', 'get_proposals', () => ({ status: 'approved' })],
    ['search_content, a title', 'search_content', searches(({ title }) => title)],
    ['search_content, a title with two typos', 'search_content', searches(({ title }) => misspelt(title))],
    [
      'search_content, three words of a text',
      'search_content',
      searches(({ description }) => description.split(' ').slice(2, 5).join(' ')),
    ],
    ['search_content, one word', 'search_content', searches(({ title }) => title.split(' ').at(-1)!)],
    ['search_content, the commonest word', 'search_content', () => ({ query: 'the' })],
  ]
  for (const name of ['get_meetings', 'get_action_items', 'get_decisions']) {
    const cursor = await cursorAfter((input) => ask(name, input), 99)
    calls.push([`${name}, the hundredth page`, name, () => ({ cursor })])
  }
  const took = calls.map((): number[] => [])
  for (let n = -5; n < ROUNDS; n++)
    for (const [i, [, name, inputOf]] of calls.entries()) await timed(n < 0 ? [] : took[i]!, () => ask(name, inputOf(Math.abs(n))))
  for (const [i, [name]] of calls.entries()) row(name, `${spread(took[i]!, 1)} ms`)
}

const claiming = async (call: Call) => {
  const { id, alex } = await room(call)
  const teams: string[] = []
  for (let n = 2; n < TEAMS; n++) teams.push((await done(call('join_session', { session_id: id, team_name: `Team ${n}` }))).team_id)
  for (let n = 0; n < ITEMS; n += 50) {
    const items = Array.from({ length: 50 }, (_, i) => ({ title: `Module ${n + i}`, paths: [`src/module-${n + i}/**`] }))
    await done(alex('plan_work', { items }))
  }
  const took: number[] = []
  for (let n = 0; n < 4; n++) for (const team of teams) await timed(took, () => done(call('claim_work', { session_id: id }, { team })))
  row(`claim_work, ${ITEMS} items, ${TEAMS} teams`, `${spread(took, 1)} ms`)
}

for (const engine of ENGINES.filter((name) => name === (process.argv[2] ?? name))) {
  console.log(`\n${engine}`)
  const parley = await startParley({ engine })
  await manyRecords(parley.database, { sessions: SESSIONS, records: SESSIONS * 10, persons: SESSIONS * 2 })
  load()
  await reading(parley)
  await claiming(viaRest(parley))
  load()
  await parley.close()
}
process.exit(0)
