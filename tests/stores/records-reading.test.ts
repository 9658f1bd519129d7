// Reading records among many of them: statements do not grow with rows, searches use their indexes, and two typos are no hindrance.
import { describe, expect, test } from 'bun:test'
import { sql, type SQL } from 'drizzle-orm'
import { inTexts, inTitles, searchContent, CONTENT_TYPES } from '../../src/stores/records/content-search.ts'
import { listDecisions } from '../../src/stores/records/decision-list.ts'
import { personIdOf, personOf, rememberPersons } from '../../src/stores/records/persons.ts'
import { fewestStatements } from '../support/fewest-statements.ts'
import { bearer, keyOf } from '../support/keys.ts'
import { manyRecords } from '../support/many-records.ts'
import { cookieOf, done, onOneEngine, viaRest } from '../support/parley.ts'
import { random } from '../support/random.ts'

const SERIES = '0190a0a0-0000-7000-8000-000000000000'
const AMOUNT = { sessions: 4_000, records: 12_000, persons: 200 }

onOneEngine((parley, engine) => {
  let seeded: Promise<void> | undefined
  const database = async () => {
    await (seeded ??= manyRecords(parley().database, AMOUNT))
    return parley().database
  }

  test('names are kept in one order, also where a team and a person share one', async () => {
    const [team, person] = [personOf('team', 'Alex', false), personOf('person', 'Alex', true)]
    const kept: unknown[][] = []
    const { db, query } = parley().database
    const noted: typeof query = (text, params = []) => (kept.push(params), query(text, params))
    for (const given of [
      [team, person],
      [person, team],
    ])
      await rememberPersons({ db, query: noted }, given)
    expect(kept[1]).toEqual(kept[0]!)
  })

  test('the number of statements is the same for one row and for fifty [E19]', async () => {
    const { query } = await database()
    const as = { headers: bearer(await keyOf(parley(), 'read')) }
    const ask = (name: string, input: object) => done(viaRest(parley())(`records.${name}`, { ...input }, as))
    const cost = async (name: string, input: object, enough?: number): Promise<[rows: number, statements: number]> => {
      let rows = 0
      const fewest = await fewestStatements(
        await database(),
        async () => {
          const answer = await ask(name, input)
          rows = Math.max(...Object.values(answer).map((value) => (Array.isArray(value) ? value.length : 0)))
        },
        enough,
      )
      return [rows, fewest]
    }
    const [little] = await query<{ id: string }>('select id from sessions order by created_at limit 1')
    for (const table of ['items', 'decisions'])
      await query(`delete from ${table} where session_id = $1 and id not in (select id from ${table} where session_id = $1 limit 1)`, [
        little!.id,
      ])
    const [much] = await query<{ id: string }>('select id from sessions order by created_at desc limit 1')
    for (const table of ['items', 'decisions'])
      await query(`update ${table} set session_id = $1 where id in (select id from ${table} where session_id <> $2 limit 60)`, [
        much!.id,
        little!.id,
      ])
    const seldom = personIdOf('team', 'Seldom')
    await query('update decisions set decided_by_id = $1 where session_id = $2', [seldom, little!.id])
    await query(`insert into persons values ('team', 'Seldom', $1)`, [seldom])
    const often = personIdOf('team', 'Team 2')
    const pairs: [string, object, object, number][] = [
      ['get_meetings', { limit: 1 }, { limit: 50 }, 50],
      ['get_meetings', { limit: 1, attendee_id: often }, { limit: 50, attendee_id: often }, 20],
      ['get_action_items', { limit: 1 }, { limit: 50 }, 50],
      ['get_action_items', { limit: 1, meeting_id: much!.id }, { limit: 50, meeting_id: much!.id }, 50],
      ['get_decisions', { limit: 1 }, { limit: 50 }, 50],
      ['search_content', { limit: 1, query: 'parser' }, { limit: 50, query: 'parser' }, 50],
      ['get_proposals', { limit: 1, status: 'approved' }, { limit: 50, status: 'approved' }, 50],
      ['get_meeting_details', { meeting_id: little!.id }, { meeting_id: much!.id }, 50],
      ['get_person_context', { person_id: seldom }, { person_id: often }, 10],
    ]
    for (const [name, one, many, rows] of pairs) {
      const [few, least] = await cost(name, one)
      const [lots, most] = await cost(name, many, least)
      expect([name, few <= 3, lots >= rows, most <= least && most <= 9]).toEqual([name, true, true, true])
    }
  })

  describe('search_content', () => {
    const planOf = async (statement: SQL): Promise<string> => {
      const { db } = await database()
      const rows = (await db.execute(sql`explain ${statement}`)) as unknown as { 'QUERY PLAN': string }[]
      return rows.map((row) => row['QUERY PLAN']).join('\n')
    }
    const search = { query: 'retry timeout limit', types: CONTENT_TYPES, sessionId: undefined, limit: 20 }

    test.each([
      ['titles', () => inTitles(search)],
      ['texts', () => inTexts(search)],
      ['texts, one word', () => inTexts({ ...search, query: 'timeot' })],
    ])('looks words of %s up in their GIN indexes [E5 E19]', async (_, statementOf) => {
      const plan = await planOf(statementOf())
      for (const index of ['sessions_words', 'items_words', 'decisions_words']) expect(plan).toContain(`Bitmap Index Scan on ${index}`)
    })

    test('a title with two typos is found among the first three, 95 times in a hundred [E5]', async () => {
      const { query, transaction } = await database()
      const sample = engine === 'postgres' ? 100 : 20 // what is found does not depend on the engine, and takes the embedded one ten times as long
      const rows = await query<{ id: string; title: string }>(
        `select id, title from (select id, title from items union all select id, title from decisions) r
         where array_length(string_to_array(title, ' '), 1) >= 3 order by md5(title), id limit ${sample}`,
      )
      const rnd = random(22)
      const missed: [string, string][] = []
      for (const { id, title } of rows) {
        const typed = misspelt(misspelt(title, rnd), rnd)
        const found = await searchContent({ transaction }, { ...search, query: typed, limit: 3 })
        if (!found.some((one) => one.id === id)) missed.push([title, typed])
      }
      expect(rows).toHaveLength(sample)
      expect(missed.length, JSON.stringify(missed)).toBeLessThanOrEqual(sample / 20)
    })

    test('misspelt words are found where they stand apart in a title', async () => {
      const { transaction, query } = await database()
      const [row] = await query<{ id: string }>('select id from sessions limit 1')
      await query(`update sessions set title = 'The quokka tokenizer is written by hand' where id = $1`, [row!.id])
      for (const typed of ['quokka by hand', 'qukka by hand', 'quokka tokenzer hnad', 'quoka hand', 'tokeniser quoka'])
        expect(
          (await searchContent({ transaction }, { ...search, query: typed, limit: 3 })).map(({ id }) => id),
          typed,
        ).toContain(row!.id)
      expect(await searchContent({ transaction }, { ...search, query: 'zyzzyva xylem', limit: 3 })).toEqual([])
    })

    test('misspelt words are found in the descriptions that are not long', async () => {
      const { transaction, query } = await database()
      const [row] = await query<{ id: string; description: string }>('select id, description from items order by id limit 1')
      const finds = async (description: string, typed: string) => {
        await query('update items set description = $2 where id = $1', [row!.id, description])
        return (await searchContent({ transaction }, { ...search, query: typed, limit: 3 })).some(({ id }) => id === row!.id)
      }
      const rest = 'lorem ipsum '.repeat(400)
      expect(await finds('The platypuses migration.', 'platypusses')).toBe(true)
      expect(await finds(`The platypuses migration. ${rest}`, 'platypusses')).toBe(false)
      expect(await finds(`${rest} The platypuses migration.`, 'platypuses')).toBe(true)
      await query('update items set description = $2 where id = $1', [row!.id, row!.description])
    })

    test('how alike a long text is to the query is told by its beginning; further back words count as they were asked for', async () => {
      const { transaction, query } = await database()
      const [row] = await query<{ id: string; description: string }>('select id, description from items order by id limit 1')
      const scoreOf = async (description: string) => {
        await query('update items set description = $2 where id = $1', [row!.id, description])
        const found = await searchContent({ transaction }, { ...search, query: 'wombat burrow', limit: 3 })
        return found.find(({ id }) => id === row!.id)?.score
      }
      const rest = 'lorem ipsum '.repeat(400)
      expect(await scoreOf(`The wombat burrow. ${rest}`)).toBeCloseTo(0.9)
      expect(await scoreOf(`${rest} The wombat burrow.`)).toBeCloseTo(0.675)
      await query('update items set description = $2 where id = $1', [row!.id, row!.description])
    })

    test('all decisions with a word are listed, the newest first, by the same index [E4]', async () => {
      const { query } = await database()
      const found = await listDecisions(await database(), { search: 'Parser timeout', limit: 51 })
      const [row] = await query<{ count: number }>(
        `select count(*) from decisions where title || ' ' || description ~* 'parser' and title || ' ' || description ~* 'timeout'`,
      )
      expect(found).toHaveLength(row!.count)
      expect(found.length).toBeGreaterThan(3)
      const times = found.map(({ decision }) => decision.at)
      expect(times).toEqual(times.toSorted().reverse())
    })
  })

  test('what is more than a page shows is not counted as if it were all', async () => {
    const { query } = await database()
    const owner = personIdOf('team', 'Busy')
    await query(`insert into persons values ('team', 'Busy', $1)`, [owner])
    const busy = async (count: number) => {
      await query(`update items set owner_id = $1, status = 'open' where id in (select id from items order by id limit ${count})`, [owner])
      await query(`update sessions set series_id = $1 where id in (select id from sessions order by id limit ${count})`, [SERIES])
    }
    const headers = { cookie: await cookieOf(parley(), { role: 'person', name: 'Nora' }), accept: 'text/html' }
    const page = async (filters: string) => (await parley().send(`/records?${filters}`, { headers })).text()
    for (const [count, shown] of [
      [50, '50'],
      [51, '50+'],
    ] as const) {
      await busy(count)
      expect(await page(`owner=${owner}`)).toContain(`>${shown} open action items, first in this list`)
      expect(await page(`series=${SERIES}`)).toContain(`>A series of ${shown} sessions<`)
    }
    expect(await page(`owner=${owner}&status=open`)).not.toContain('No open action item')
  })
})

// A letter left out, doubled by a wrong one, or swapped with the next, in a word of four letters or more where there is one.
const misspelt = (title: string, rnd: () => number): string => {
  const words = title.split(' ')
  const long = words.map((word, i) => ({ word, i })).filter(({ word }) => word.length > 3)
  const { word, i } = long[Math.floor(rnd() * long.length)] ?? { word: words[0]!, i: 0 }
  const at = Math.floor(rnd() * (word.length - 1))
  const ways = [
    word.slice(0, at) + word.slice(at + 1),
    `${word.slice(0, at)}q${word.slice(at)}`,
    word.slice(0, at) + word[at + 1] + word[at] + word.slice(at + 2),
  ]
  return words.with(i, ways[Math.floor(rnd() * 3)]!).join(' ')
}
