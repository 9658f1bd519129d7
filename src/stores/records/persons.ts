// Who records speak of: names of teams, people and keys. A person's id is made of kind and name alone, so that it is the same in every
// session and costs nothing to give out; the table leads back from it to the spellings that were given out with it.
import { uuidOf } from '../../core/ids.ts'
import { nameKey } from '../../core/text/text.ts'
import { plainArray } from '../../../db/arrays.ts'
import type { Queries } from '../../../db/database.ts'
import { DiskFull } from '../../../db/errors.ts'
import type { Named, PERSON_KINDS } from '../../../db/records-schema.ts'

export type PersonKind = (typeof PERSON_KINDS)[number]

/** Somebody whose id is known. */
export interface Person extends Named {
  person_id: string
  kind: PersonKind
}

/** One id for each kind and name, whatever its case and blanks: a team that bears a person's name is never that person. */
export const personIdOf = (kind: PersonKind, name: string): string => uuidOf(`person\n${kind}\n${nameKey(name)}`)

/** `verified`: a person whose name is bound to a link, a key, a team that joined with a key: of several by one
 *  name, all of them. */
export const personOf = (kind: PersonKind, name: string, verified: boolean): Person => ({
  person_id: personIdOf(kind, name),
  name,
  kind,
  verified,
})

/** A name that nobody in the session bears. */
export const nameOnly = (name: string): Named => ({ person_id: null, name, kind: null, verified: false })

/** Keeps the names that an answer gives out with their ids. One statement, however many there are. On a full disk an answer goes out without:
 *  it may be one that only reads, and what writes has been refused before. */
export const rememberPersons = async (queries: Queries, given: readonly (Named | null | undefined)[]): Promise<void> => {
  // In one order: two writes that keep the same names would wait for each other otherwise.
  const known = given.filter((one): one is Person => one?.person_id != null).toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1))
  if (known.length === 0) return
  await insertPersons(queries, known).catch((error: unknown) => {
    if (!(error instanceof DiskFull)) throw error
  })
}

const placeOf = ({ name, kind }: Person) => `${name}\n${kind}`

const insertPersons = ({ query }: Queries, known: Person[]) =>
  query(
    `insert into persons (kind, name, person_id) select kind, name, person_id
     from json_to_recordset($1::json) as p(kind text, name text, person_id uuid) on conflict do nothing`,
    [JSON.stringify(known.map(({ kind, name, person_id }) => ({ kind, name, person_id })))],
  )

/** The spellings of a person's name that were given out, with its kind; none for an id that nobody was given. */
export const spellingsOf = ({ query }: Queries, personId: string): Promise<{ kind: PersonKind; name: string }[]> =>
  query(`select kind, name from persons where person_id = any($1::uuid[]) order by name`, [plainArray([personId])])
