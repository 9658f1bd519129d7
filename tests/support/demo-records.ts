// A session whose teams divide their work on the board, and whose decisions and action items a person has approved: for pictures, and for
// checks that need pages with something on them.
import { expect } from 'bun:test'
import type { Site } from './site.ts'

type Place = Pick<Site, 'url' | 'post' | 'services'>

const TEAMS = ["Alex's Team", "Bea's Team", "Chidi's Team", "Deniz's Team"]

const PLAN = [
  { title: 'Token spans in bytes', paths: ['src/lexer/**'], priority: 'high' },
  { title: 'Keep comments as trivia', paths: ['src/lexer/trivia.ts'], depends_on: ['#1'] },
  { title: 'Port the command line', paths: ['src/cli'] },
  { title: 'Port the formatter', paths: ['src/formatter'], depends_on: ['#2'] },
  {
    title: 'Port the language server',
    description: 'Incremental updates first: `didChange` must not parse a whole file.\n\n- [ ] hover\n- [ ] rename\n- [ ] diagnostics',
    paths: ['src/server', 'src/lexer/spans.ts'],
    priority: 'high',
    owner: TEAMS[2],
  },
  { title: 'Port the two plugins', paths: ['plugins/*'], depends_on: ['#4', '#5'], priority: 'low' },
  { title: 'Corpus run with the new spans', depends_on: ['#1'] },
  { title: 'Migration note', paths: ['docs/migration.md'], depends_on: ['#4', '#5', '#6'] },
  { title: 'A generated grammar for the docs', paths: ['docs/grammar.md'] },
]

export interface RecordsDemo {
  /** A session with a board and records. */
  session: string
  /** The session that it continues. */
  before: string
  /** The person_id of the team that owns most. */
  owner: string
}

/** Who speaks there, with their tokens, and what a person does. `cookie`: Robin's, as a header has it. */
export const recordsTeams = async ({ url, post }: Place, cookie: string) => {
  const call = async (path: string, body: object, headers: Record<string, string>): Promise<Record<string, any>> => {
    const response = await fetch(`${url}/api${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
    const answer = (await response.json()) as Record<string, any>
    expect({ path, status: response.status, answer: response.ok || answer }).toMatchObject({ status: 200 })
    return answer
  }
  const convene = async (title: string, description: string, more: object = {}, team?: string) => {
    const first = await post('/sessions', { title, description, creator_team_name: TEAMS[0], expected_teams: TEAMS.length, ...more }, team)
    const at = `/sessions/${first.session_id}`
    const tokens = [first.team_id!]
    for (const team_name of TEAMS.slice(1)) tokens.push((await post(`${at}/join`, { team_name })).team_id!)
    return { id: first.session_id!, at, tokens, as: teamCalls(call, at, tokens) }
  }
  const asRobin = (path: string, body: object) => call(path, body, { cookie, origin: url })
  const approve = (id: string, more: object = {}) => asRobin(`/approvals/${id}`, { action: 'approve', ...more })
  return { call, convene, asRobin, approve }
}

const teamCalls =
  (call: (path: string, body: object, headers: Record<string, string>) => Promise<Record<string, any>>, at: string, tokens: string[]) =>
  (team: number) => {
    const headers = { 'x-team-id': tokens[team]! }
    return {
      plan: (items: object[], more: object = {}) => call(`${at}/work`, { items, ...more }, headers),
      claim: (item_id: string, more: object = {}) => call(`${at}/work/claim`, { item_id, ...more }, headers),
      update: (item_id: string, change: object) => call(`${at}/work/${item_id}`, change, headers),
      propose: (what: 'action_item' | 'decision', fields: object) => call(`/records/propose_${what}`, fields, headers),
      say: (text: string) => call(`${at}/messages`, { content: { text } }, headers),
    }
  }

export const fillRecords = async (place: Place, cookie: string): Promise<RecordsDemo> => {
  const { convene, approve, asRobin } = await recordsTeams(place, cookie)
  const first = await convene('Choose the parser', 'Hand-written or generated, for the command line, the language server and the plugins.')
  const decided = async (as: ReturnType<typeof first.as>, fields: object, more: object = {}) =>
    (await approve((await as.propose('decision', fields)).id, more)).record as { decision_id: string }
  const generated = await decided(first.as(0), {
    title: 'The grammar is generated',
    description: 'One grammar file, three parsers.',
    rationale: 'Less code to keep.',
  })
  await decided(first.as(0), {
    title: 'The parser is written by hand',
    description: 'With Pratt expressions. The generated one needs **2.4 ×** the memory on the corpus.',
    rationale: 'Errors are explained best where the code knows what it looks for; and the language server has 300 MB.',
  })
  await asRobin(`/records/${generated.decision_id}/withdraw`, { reason: 'The measurements speak against it.' })
  await place.post(`${first.at}/conclude`, { summary_section: 'By hand. Go on with the callers.' }, first.tokens[0])

  const second = await convene(
    'Port the callers to parser 4',
    'All 41 callers, with the spans in bytes.',
    { resume_from: first.id },
    first.tokens[0],
  )
  const [alex, bea, chidi, deniz] = TEAMS.map((_, i) => second.as(i)) as [ReturnType<typeof second.as>, ...ReturnType<typeof second.as>[]]
  await alex.say('I have put the plan on the board. Claim what you can; the spans come first.')
  const { items } = await alex.plan(PLAN)
  const ids = (items as { item_id: string }[]).map(({ item_id }) => item_id)
  await bea!.claim(ids[0]!)
  await bea!.update(ids[0]!, { status: 'done', result: 'Spans are `[start, end)` in bytes; `spanOf(node)` is in `src/lexer/spans.ts`.' })
  await bea!.claim(ids[1]!)
  await bea!.update(ids[1]!, { note: 'Leading trivia is in. Trailing comments at the end of a file are left.' })
  await deniz!.claim(ids[2]!)
  await chidi!.claim(ids[4]!, { allow_overlap: true })
  await alex.update(ids[8]!, { status: 'dropped', note: 'The documentation keeps its own grammar.' })
  await decided(alex, {
    title: 'parse() keeps its signature until 5.0',
    description: '`parseTree()` is new beside it. Two plugins outside this repository call `parse()`.',
    rationale: 'A major version is the place to break it.',
  })
  const action = (as: typeof alex, fields: object) => as.propose('action_item', fields)
  const note = await action(chidi!, {
    title: 'Tell the editors’ teams about byte spans',
    description: 'Before the beta, with the migration note.',
    owner_name: TEAMS[2],
    due_date: '2027-03-01T09:00:00Z',
  })
  await approve(note.id, { edits: { title: 'Tell the editors’ teams about byte spans before the beta', priority: 'high' } })
  await approve((await action(bea!, { title: 'Archive the fixtures of parser 3', owner_name: TEAMS[1], priority: 'low' })).id)
  await action(deniz!, { title: 'Measure the start of the command line', description: 'It felt slower today.' })
  await age(place, second.id, ids)
  return { session: second.id, before: first.id, owner: note.data.owner.person_id as string }
}

// As it would have been, within an hour.
const age = ({ services: { database } }: Place, session: string, [spans, comments, cli, , server]: string[]) =>
  database.transaction(async ({ query }) => {
    await query(
      `update items set created_at = now() - interval '70 minutes', updated_at = now() - interval '52 minutes' where session_id = $1`,
      [session],
    )
    for (const [id, minutes] of [
      [comments, 21],
      [cli, 8],
      [server, 34],
    ] as const)
      await query(`update items set claimed_at = now() - $2::int * interval '1 minute' where id = $1`, [id!, minutes])
    await query(`update items set updated_at = now() - interval '24 minutes' where id = $1`, [spans!])
  })
