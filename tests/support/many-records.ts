// Sessions with records, as they would be after years: written beside the operations that make them, which would take hours.
import type { Database, Queries } from '../../db/database.ts'
import { personIdOf } from '../../src/stores/records/persons.ts'
import { random } from './random.ts'
import { recordWords } from './record-words.ts'

/** How much there is: `records` are decisions and action items in equal parts, spread over the sessions. */
export interface Amount {
  sessions: number
  records: number
  persons: number
}

const WORDS = 4_000
const AT_ONCE = 10_000
const TABLES = ['sessions', 'participants', 'events', 'persons', 'proposals', 'decisions', 'items']
const MAY_TAKE_MS = 900_000

type Texts = (words: number) => string

// The commonest words most often.
const textsFrom = (words: string[]): Texts => {
  const rnd = random(11)
  return (count) => Array.from({ length: count }, () => words[Math.floor(words.length * rnd() ** 3)]).join(' ')
}

const textsOf = (count: number, texts: Texts) =>
  Array.from({ length: count }, (_, i) => ({ n: i + 1, title: texts(3 + (i % 5)), description: texts(8 + (i % 40)) }))

/** Each session has two teams and a post of a person. Half of the persons are teams; all of them own and decide the records in turn. */
export const manyRecords = async (database: Pick<Database, 'unhurried'>, { sessions, records, persons }: Amount): Promise<void> => {
  await database.unhurried(async (tx) => {
    const texts = textsFrom(recordWords(WORDS))
    await tx.query(`select set_config('maintenance_work_mem', '256MB', true)`)
    const indexes = await tx.query<{ name: string; made: string }>(TRIGRAM_INDEXES)
    for (const { name } of indexes) await tx.query(`drop index ${name}`)
    await makePersons(tx, persons)
    await makeSessions(tx, texts, sessions, persons / 2)
    await makeProposals(tx, texts, records, sessions, persons)
    await tx.query(DECISIONS)
    await tx.query(ITEMS)
    for (const { made } of indexes) await tx.query(made)
  }, MAY_TAKE_MS)
  await database.unhurried(async ({ query }) => {
    for (const table of TABLES) await query(`analyze ${table}`)
  }, MAY_TAKE_MS)
}

// Made anew at the end: to keep them up to date row by row took ten times as long.
const TRIGRAM_INDEXES = `select indexname as name, indexdef as made from pg_indexes where indexname like '%\\_words'`

const makePersons = async ({ query }: Queries, count: number) => {
  const rows = Array.from({ length: count }, (_, n) => {
    const [kind, name] = n < count / 2 ? (['team', `Team ${n}`] as const) : (['person', `Person ${n}`] as const)
    return { n, kind, name, person_id: personIdOf(kind, name) }
  })
  await query(
    `create temporary table made_persons on commit drop as
     select n, kind, name, person_id, json_build_object('person_id', person_id, 'name', name, 'kind', kind, 'verified', false) as named
     from json_to_recordset($1::json) as p(n int, kind text, name text, person_id uuid)`,
    [JSON.stringify(rows)],
  )
  await query('create unique index on made_persons (n)')
  await query('insert into persons (kind, name, person_id) select kind, name, person_id from made_persons')
}

const makeSessions = async ({ query }: Queries, texts: Texts, count: number, teams: number) => {
  // Each tenth one continues the one before it.
  await query(
    `create temporary table made_sessions on commit drop as
     select n, gen_random_uuid() as id, now() - n * interval '1 minute' as at, title, description
     from json_to_recordset($1::json) as s(n int, title text, description text)`,
    [JSON.stringify(textsOf(count, texts))],
  )
  await query('create unique index on made_sessions (n)')
  await query(
    `with opened as (
       insert into sessions (id, title, description, series_id, created_at, updated_at, last_sequence, last_conversation_sequence, turn)
       select s.id, s.title, s.description, coalesce(before.id, s.id), s.at, s.at, 1, 1, 1
       from made_sessions s left join made_sessions before on s.n % 10 = 0 and before.n = s.n + 1 returning id, created_at
     )
     insert into session_index (session_id, started_at, updated_at, indexed_sequence) select id, created_at, created_at, 1 from opened`,
  )
  await query(
    `insert into participants (session_id, team_id, token_hash, team_name, hue, joined_at, last_seen_cursor, delivered_cursor)
     select s.id, gen_random_uuid(), '', p.name, 1, s.at, 0, 0 from made_sessions s cross join generate_series(0, 1) k
     join made_persons p on p.n = (s.n * 2 + k) % $1::int`,
    [teams],
  )
  await query(
    `insert into events (session_id, sequence, id, turn, ordinal, type, author, author_name, content, size, at)
     select s.id, 1, gen_random_uuid(), 1, 1, 'chat', 'person', p.name, '{"text":"Go on."}', 17, s.at
     from made_sessions s join made_persons p on p.n = $1::int + s.n % $1::int`,
    [teams],
  )
}

// Every record was proposed and approved.
const makeProposals = async ({ query }: Queries, texts: Texts, count: number, sessions: number, persons: number) => {
  for (let done = 0; done < count; done += AT_ONCE)
    await query(
      `insert into proposals (id, session_id, type, data, title_key, status, proposed_by, created_at, expires_at, resolved_at, resolved_by,
         record_id)
       select gen_random_uuid(), s.id, case i % 2 when 0 then 'action' else 'decision' end,
         json_build_object('title', made.title, 'description', made.description, 'owner', p.named), i::text, 'approved',
         team.named, s.at, s.at + interval '1 day', s.at + i * interval '1 ms', person.named, gen_random_uuid()
       from (select n + $4::int as i, title, description from json_to_recordset($1::json) as r(n int, title text, description text)) made
       join made_sessions s on s.n = 1 + (i / 2) % $2::int
       join made_persons p on p.n = (i / 2) % $3::int
       join made_persons team on team.n = i % ($3::int / 2)
       join made_persons person on person.n = $3::int / 2 + i % ($3::int / 2)`,
      [JSON.stringify(textsOf(Math.min(AT_ONCE, count - done), texts)), sessions, persons, done],
    )
}

const DECISIONS = `
insert into decisions (id, session_id, proposal_id, title, description, decided_by, decided_by_id, at, withdrawn_at)
select record_id, session_id, id, data->>'title', data->>'description', data->'owner', (data->'owner'->>'person_id')::uuid, resolved_at,
  case when title_key::int % 20 = 1 then now() end
from proposals where type = 'decision'`

const ITEMS = `
insert into items (id, session_id, kind, proposal_id, title, description, status, depends_on, paths, owner, owner_id, due_date, planned_by,
  place, created_at, updated_at)
select record_id, session_id, 'action', id, data->>'title', data->>'description',
  case title_key::int % 100 when 0 then 'dropped' when 2 then 'done' else 'open' end, '{}', '[]', data->'owner',
  (data->'owner'->>'person_id')::uuid, resolved_at + interval '7 days', proposed_by, title_key::int, resolved_at, resolved_at
from proposals where type = 'action'`
