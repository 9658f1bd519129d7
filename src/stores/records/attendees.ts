// Who attended a session: its teams, gone ones too, and the people who have posted there. What was imported has no attendees.
import { sql, type SQL } from 'drizzle-orm'
import { pgArray, plainArray } from '../../../db/arrays.ts'
import type { Queries } from '../../../db/database.ts'
import { sessions } from '../../../db/schema.ts'
import { nameKey } from '../../core/text/text.ts'
import { personOf, type Person, type PersonKind } from './persons.ts'

interface Attendance {
  id: string
  kind: 'team' | 'person'
  name: string
  verified: boolean // of a team
}

// The second half reads the index events_of_people.
const ATTENDANCES = `
select session_id as id, 'team' as kind, team_name as name, verified, joined_at as since
from participants where session_id = any($1::uuid[])
union all
select session_id, 'person', author_name, false, min(at) from events
where session_id = any($1::uuid[]) and author = 'person' and source_line is null and author_name is not null group by session_id, author_name
order by since, name`

/** Whose names among these are bound to a link, as names are compared. */
const boundAmong = async ({ query }: Queries, names: readonly string[]): Promise<Set<string>> => {
  const keys = [...new Set(names.map(nameKey))]
  const rows = await query<{ name_key: string }>('select name_key from people where name_key = any($1::text[])', [pgArray(keys)])
  return new Set(rows.map(({ name_key }) => name_key))
}

/** The attendees of these sessions, in the order in which they came; nobody twice. Two statements. */
export const attendeesOf = async (queries: Queries, sessionIds: readonly string[]): Promise<Map<string, Person[]>> => {
  const rows = await queries.query<Attendance>(ATTENDANCES, [plainArray(sessionIds)])
  const bound = await boundAmong(
    queries,
    rows.filter(({ kind }) => kind === 'person').map(({ name }) => name),
  )
  const found = new Map<string, Map<string, Person>>(sessionIds.map((id) => [id, new Map()]))
  for (const { id, kind, name, verified } of rows) {
    const person = personOf(kind, name, kind === 'team' ? verified : bound.has(nameKey(name)))
    const known = found.get(id)!.get(person.person_id)
    if (known) known.verified &&= person.verified
    else found.get(id)!.set(person.person_id, person)
  }
  return new Map([...found].map(([id, persons]) => [id, [...persons.values()]]))
}

/** The condition that somebody of one of these names attended a session. Reads the indexes participants_name and events_named. */
export const attendedBy = (spellings: readonly { kind: PersonKind; name: string }[]): SQL => {
  const named = (kind: PersonKind) => pgArray(spellings.filter((spelling) => spelling.kind === kind).map(({ name }) => name))
  return sql`${sessions.id} in (
    select session_id from participants where team_name = any(${named('team')}::text[])
    union all
    select session_id from events where author_name = any(${named('person')}::text[]) and author_name is not null and author = 'person'
      and source_line is null)`
}

/** Whether somebody of this kind and name is who the name says: a key, a person who came by a link bound to it, a team if each of that name,
 *  in whatever session, joined with a key. One statement. */
export const isVerified = async ({ query }: Queries, spellings: readonly { kind: PersonKind; name: string }[]): Promise<boolean> => {
  const of = (kind: PersonKind) => spellings.filter((spelling) => spelling.kind === kind).map(({ name }) => name)
  const [row] = await query<{ verified: boolean }>(
    `select exists (select from people where name_key = any($1::text[])) or (
       exists (select from participants where team_name = any($2::text[]))
       and not exists (select from participants where team_name = any($2::text[]) and not verified)
     ) as verified`,
    [pgArray(of('person').map(nameKey)), pgArray(of('team'))],
  )
  return of('key').length > 0 || row!.verified
}
