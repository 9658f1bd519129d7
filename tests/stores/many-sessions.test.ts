// What looking something up costs among very many sessions: the rows that are read follow what is found, shown or open, not what there is. On Postgres,
// whose plans are told; the embedded database has the same statements.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Queries } from '../../db/database.ts'
import { needsOfSessions } from '../../src/loops/store.ts'
import { Comparison } from '../../src/search/comparison.ts'
import { Indexer } from '../../src/search/indexer.ts'
import { membersOf } from '../../src/stores/control/family.ts'
import { listControlRows, relativesOf } from '../../src/stores/control/sessions.ts'
import { usageOf } from '../../src/stores/control/session-tasks.ts'
import { liveSessions, MOST_SESSIONS_COUNTED, presentTeams, totals } from '../../src/stores/home-queries.ts'
import { writeDocument } from '../../src/stores/documents.ts'
import { saveImport } from '../../src/stores/imports.ts'
import { hasPosted } from '../../src/stores/events.ts'
import { keysOfSession } from '../../src/stores/keys.ts'
import { sessionsWithDocs } from '../../src/stores/live-state.ts'
import { aroundElsewhere, goneConveners } from '../../src/stores/members.ts'
import { questionsToPeople } from '../../src/stores/questions.ts'
import { purgeableByAge } from '../../src/stores/purge.ts'
import { NARROW, sessionsWithin } from '../../src/stores/session-list.ts'
import { listSessions, type SessionFilter } from '../../src/stores/sessions.ts'
import { NEVER_MS, onOneEngine } from '../support/parley.ts'
import { rowsRead } from '../support/rows-read.ts'

const SESSIONS = 6_000 // one a quarter of an hour, so a few are of this hour; a tenth of them are open
const TEAMS = 2 // of each
const AROUND = 20 // open sessions in which the team that is not the convener is there for as long as the test
const OLD = 40 // days: the oldest half
const FEW = 600 // rows: a tenth of what there is

const SEED = [
  `insert into sessions (id, title, description, expected_teams, series_id, status, created_at, updated_at, last_event_at, convener_team_id, last_sequence,
     last_conversation_sequence, agent_status, source)
   select id, case n when 4321 then 'Quartz' else 'Session ' || n end, case n when 5432 then 'A zebra.' else 'One of many.' end, 0, id, case when n % 10 = 0 then 'active' else 'closed' end, at, at, at, gen_random_uuid(), 1, 1,
     case when n % 1000 = 0 then 'running' else 'idle' end, case when n % 100 = 1 then 'claude-code' else 'room' end
   from (select n, gen_random_uuid() as id, now() - n * interval '15 minutes' as at from generate_series(1, ${SESSIONS}) n) made`,
  // Each seventh is a fork of the one before it, or a child of it, or goes on with it.
  `update sessions s set forked_from_session_id = case k when 0 then before end, parent_session_id = case k when 1 then before end,
     resumed_from_session_id = case k when 2 then before end
   from (select id, row_number() over o % 7 as nth, row_number() over o / 7 % 3 as k, lag(id) over o as before
     from sessions window o as (order by created_at)) numbered
   where numbered.id = s.id and nth = 0`,
  `insert into participants (session_id, team_id, token_hash, team_name, hue, last_seen_cursor, delivered_cursor, last_seen_at)
   select s.id, case when k = 0 then s.convener_team_id else gen_random_uuid() end, '', 'Team ' || k, 1, 0, 0, s.created_at - interval '2 hours'
   from sessions s, generate_series(1, ${TEAMS}) t, lateral (select t - 1 as k) numbered`,
  `update participants set last_seen_at = now() + interval '1 hour' where team_name = 'Team 1'
   and session_id in (select id from sessions where status = 'active' order by created_at limit ${AROUND})`,
  `insert into events (session_id, sequence, id, turn, ordinal, type, author, content, size, at)
   select id, 1, gen_random_uuid(), 1, 1, 'chat', 'person', '{"text":"Go on."}', 17, created_at from sessions`,
  'insert into session_index (session_id, started_at, updated_at, indexed_sequence) select id, created_at, created_at, 1 from sessions',
  `insert into session_docs (session_id, content) select id, '' from sessions`,
  `insert into session_search (session_id, doc_version, head, length, tsv)
   select id, 0, md5(title || E'\\n' || description), 2, 'session:1A' from sessions`,
  'insert into wakes (session_id, since, taken) select id, created_at, 30 from sessions',
  'insert into loops (session_id, suspected_at) select id, case when agent_status = $$running$$ then now() end from sessions',
  `insert into keys (id, key_hash, prefix, scope, name, session_id, made_by) select gen_random_uuid(), id::text, '', 'sess', '', id, 'Robin' from sessions`,
  `select gin_clean_pending_list('sessions_words')`, // as the vacuum does
  'analyze',
]

onOneEngine(
  (parley) => {
    const database = () => parley().database
    const rows = (work: (queries: Queries) => unknown) => rowsRead(database(), work)
    const ago = (s: number) => new Date(Date.now() - s * 1_000).toISOString()
    const since = () => ({ eventSince: ago(300), seenSince: ago(60), sleptSince: ago(10), now: ago(0) })
    const one = async (condition: string): Promise<string> =>
      (await database().query<{ id: string }>(`select id from sessions where ${condition} limit 1`))[0]!.id

    beforeAll(
      () =>
        database().unhurried(async ({ query }) => {
          for (const statement of SEED) await query(statement)
        }, 120_000),
      120_000,
    )

    test('the conveners that are gone are found, and those alone', async () => {
      const times = { seenBefore: ago(300), othersSince: ago(100), now: ago(0) }
      expect(await goneConveners(database(), times)).toHaveLength(AROUND)
      expect(await rows((queries) => goneConveners(queries, times))).toBeLessThan(FEW)
    })

    describe('control', () => {
      test('a session’s children and forks, what its tree has used, what is below it', async () => {
        const parent = await one('id in (select parent_session_id from sessions)')
        const origin = await one('id in (select forked_from_session_id from sessions)')
        const found = await relativesOf(database(), [parent, origin])
        expect([found.get(parent)!.children.length, found.get(origin)!.forks.length]).toEqual([1, 1])
        expect(await rows((queries) => relativesOf(queries, [parent, origin]))).toBeLessThan(20)
        expect(await rows((queries) => usageOf(queries, origin))).toBeLessThan(20)
        const below = { below: origin, archived: false, limit: 20 }
        expect(await listControlRows(database(), below)).toHaveLength(2)
        expect(await rows((queries) => listControlRows(queries, below))).toBeLessThan(60)
        expect(await rows((queries) => membersOf(queries, [parent, origin], [origin]))).toBeLessThan(60)
      })

      test('those whose agents run', async () => {
        const running = { status: 'running', archived: false, limit: 20 } as const
        expect(await listControlRows(database(), running)).toHaveLength(SESSIONS / 1_000)
        expect(await rows((queries) => listControlRows(queries, running))).toBeLessThan(60)
      })

      test('the keys of a session, as those that end with it', async () => {
        const id = await one('true')
        expect(await keysOfSession(database(), id)).toHaveLength(1)
        expect(await rows((queries) => keysOfSession(queries, id))).toBeLessThan(5)
      })
    })

    test.each([
      ['the newest', 'desc', 400],
      ['the oldest', 'asc', 400],
      ['of one day', 'desc', 20],
    ] as const)('a page of those in a time: %s', async (_, order, days) => {
      const end = ago(days === 20 ? 19 * 86_400 : 0)
      const within = { start: ago(days * 86_400), end, mode: null, order, after: undefined, limit: 51 }
      expect((await sessionsWithin(database(), within)).rows).toHaveLength(51)
      if (database().engine === 'pglite') return // it scans a table that is as small as this one
      // Whether there are many is counted as well, in the index.
      expect(await rows((queries) => sessionsWithin(queries, within))).toBeLessThan(FEW + (days === 20 ? 0 : SESSIONS + NARROW))
    })

    test('what a purge would delete: each session is read once, and what came from it by itself', async () => {
      const found = await purgeableByAge(database(), OLD, ['rooms'])
      const { length } = found
      expect(length).toBeGreaterThan(SESSIONS / 4)
      expect(found.some(({ kept_for }) => kept_for > 0)).toBe(true)
      expect(await rows((queries) => purgeableByAge(queries, OLD, ['rooms']))).toBeLessThan(SESSIONS + 10 * length)
    })

    describe('the home page', () => {
      test('the sessions that need a person', async () => {
        expect(await needsOfSessions(database(), 30, 200)).not.toBeEmpty()
        expect(await rows((queries) => needsOfSessions(queries, 30, 200))).toBeLessThan(FEW)
      })

      test('the live ones, and the teams that are around', async () => {
        expect((await liveSessions(database(), since())).length).toBeGreaterThanOrEqual(AROUND)
        expect(await presentTeams(database(), since())).toHaveLength(AROUND)
        for (const work of [
          (queries: Queries) => liveSessions(queries, since()),
          (queries: Queries) => presentTeams(queries, since()),
          (queries: Queries) => aroundElsewhere(queries, crypto.randomUUID(), since()),
        ])
          expect(await rows(work)).toBeLessThan(FEW)
      })

      test.each<[Partial<SessionFilter>, string]>([
        [{}, 'true'],
        [{ kind: 'open', without: [] }, `status = 'active'`],
        [{ kind: 'concluded' }, `status = 'closed' and source = 'room'`],
        [{ kind: 'imported' }, `source <> 'room'`],
        [{ search: 'quartz' }, `title = 'Quartz'`],
        [{ search: 'a ZEBRA' }, `description = 'A zebra.'`],
        [{ search: 'e' }, 'true'],
      ])('a list of the newest ones: %o', async (filter, condition) => {
        const list = { ...filter, limit: 50 }
        const newest = await database().query<{ id: string }>(
          `select id from sessions where ${condition} order by coalesce(last_event_at, created_at) desc, id desc limit 50`,
        )
        expect((await listSessions(database(), list)).map(({ id }) => id)).toEqual(newest.map(({ id }) => id))
        expect(await rows((queries) => listSessions(queries, list))).toBeLessThan(FEW)
      })

      test('a search for words that very many have: the newest of them', async () => {
        const newest = await database().query<{ id: string }>(
          `select id from sessions where description = 'One of many.' and status = 'active' order by last_event_at desc limit 50`,
        )
        const found = await listSessions(database(), { search: 'one of', kind: 'open', limit: 50 })
        expect(found.map(({ id }) => id)).toEqual(newest.map(({ id }) => id))
      })

      test('how many there are, up to a limit, and when something was last said', async () => {
        const [row] = await database().query<{ at: string }>('select max(last_event_at) as at from sessions')
        expect(await totals(database())).toEqual({ sessions: Math.min(SESSIONS, MOST_SESSIONS_COUNTED + 1), lastEventAt: row!.at })
      })
    })

    test('the hours by which sessions and teams are found change once an hour: a post and a poll within it leave their rows in place (HOT)', () =>
      database().transaction(async ({ query }) => {
        const moved = async () => {
          const counts = ['sessions', 'participants'].map((table) => `pg_stat_get_xact_tuples_hot_updated('${table}'::regclass)::int`)
          const [row] = await query<{ counts: number[] }>(`select array[${counts.join(', ')}] as counts`)
          return row!.counts
        }
        const id = crypto.randomUUID()
        await query(`insert into sessions (id, title, description, series_id) values ($1, 'New', '', $1)`, [id])
        await query(
          `insert into participants (session_id, team_id, token_hash, team_name, hue, last_seen_cursor, delivered_cursor) values ($1, $1, '', 'A', 1, 0, 0)`,
          [id],
        )
        const at = async (minute: number) => {
          const time = `date_trunc('hour', now()) + interval '${minute} minutes'`
          await query(`update sessions set last_sequence = last_sequence + 1, last_event_at = ${time} where id = $1`, [id])
          await query(`update participants set last_seen_at = ${time}, polling_until = ${time} where session_id = $1`, [id])
          return moved()
        }
        const [sessions, participants] = (await at(60)) as [number, number]
        expect(await at(61)).toEqual([sessions + 1, participants + 1])
        expect(await at(119)).toEqual([sessions + 2, participants + 2])
        expect(await at(120)).toEqual([sessions + 2, participants + 2])
        await query('delete from sessions where id = $1', [id])
      }))

    describe('a session of a long trace', () => {
      const LONG = 5_000 // events
      let id: string
      beforeAll(async () => {
        const { query } = database()
        id = await one(`status = 'active' and id in (select session_id from participants where last_seen_at > now())`)
        await query(
          `insert into events (session_id, sequence, id, turn, ordinal, type, author, content, size, at)
           select $1, n, gen_random_uuid(), 1, n, 'tool_call', 'agent', '{}', 2, now() - interval '1 hour' + n * interval '1 millisecond'
           from generate_series(2, ${LONG}) n`,
          [id],
        )
        await query('update sessions set last_sequence = $2, last_event_at = now() where id = $1', [id, LONG])
      })
      afterAll(async () => {
        await database().query('delete from events where session_id = $1 and sequence > 1', [id])
        await database().query('update sessions set last_sequence = 1, last_event_at = created_at where id = $1', [id])
      })

      test('is not read through each second by whoever watches it', async () => {
        const [watched] = await sessionsWithDocs(database(), [id], 30)
        expect(watched!.recent.map(([sequence]) => sequence)).toEqual([1])
        expect(await rows((queries) => sessionsWithDocs(queries, [id], 30))).toBeLessThan(20)
      })

      test('nor when its convener is looked for, who said nothing lately', async () => {
        const times = { seenBefore: ago(300), othersSince: ago(100), now: ago(0) }
        expect((await goneConveners(database(), times)).some(({ sessionId }) => sessionId === id)).toBe(true)
        expect(await rows((queries) => goneConveners(queries, times))).toBeLessThan(FEW)
        const posted = (queries: Queries) => hasPosted(queries, id, crypto.randomUUID(), Date.now() - 300_000)
        expect(await posted(database())).toBe(false)
        expect(await rows(posted)).toBeLessThan(20)
      })

      test('the questions to people that stand in sessions which are over are read a page at a time', async () => {
        if (database().engine === 'pglite') return // it sorts a table that is as small as this one
        const over = await one(`status = 'closed' and source = 'room'`)
        const open = await one(`status = 'active'`)
        const ask = (session: string, from: number, to: number) =>
          database().query(
            `insert into events (session_id, sequence, id, turn, ordinal, type, author, content, size, expects_reply, to_team_ids, at)
             select $1, n, gen_random_uuid(), 1, n, 'chat', 'team', '{"text":"Who?","to_people":["Robin"]}', 40, true, '{}', now() + n * interval '1 second'
             from generate_series($2::int, $3::int) n`,
            [session, from, to],
          )
        await ask(open, 10_001, 10_001)
        await ask(over, 10_002, 14_500)
        await database().query('analyze events')
        const pages = [await questionsToPeople(database())]
        while (pages.at(-1)!.next) pages.push(await questionsToPeople(database(), pages.at(-1)!.next))
        expect(pages.map(({ questions }) => questions.map(({ session_id }) => session_id))).toEqual([[], [], [], [], [open]])
        expect(await rows((queries) => questionsToPeople(queries))).toBeLessThan(4_000)
        await database().query('delete from events where session_id = any($1::uuid[]) and sequence > 10000', [`{${open},${over}}`])
        await database().query('analyze events')
      })
    })

    describe('the search index', () => {
      test('finds what an instance wrote that died before it notified of it, and reads little else', async () => {
        const old = await database().query<{ id: string }>(
          `select id from sessions where created_at < now() - interval '10 days' order by created_at limit 4`,
        )
        const [posted, imported, written, renamed] = old.map(({ id }) => id) as [string, string, string, string]
        let queries: Queries = database()
        const read = { sessionId: imported, bytes: 1, lines: 1, tail: '', state: {} }
        await saveImport(database(), { ...read, batches: 0 })
        await database().query(`update imports set at = now() - interval '1 day'`)
        const indexer = new Indexer({ ...database(), query: (text, params) => queries.query(text, params) })
        await indexer.run()
        const { query } = database()
        for (const id of [posted, imported])
          await query(
            `insert into events (session_id, sequence, id, turn, ordinal, type, author, content, size, at)
             select id, 2, gen_random_uuid(), 1, 2, 'chat', 'person', '{"text":"The last word."}', 17, created_at from sessions where id = $1`,
            [id],
          )
        await query('update sessions set last_sequence = 2, last_event_at = now() where id = $1', [posted])
        await query('update sessions set last_sequence = 2 where id = $1', [imported])
        await saveImport(database(), { ...read, batches: 1 })
        await writeDocument(database(), written, 'The last word.', { teamId: undefined, name: 'Robin' })
        await query(`update sessions set title = 'The last word', last_event_at = now() where id = $1`, [renamed])
        const looked = await rows(async (counted) => {
          queries = counted
          indexer.compareRecent()
          await indexer.run()
        })
        const found = await query<{ id: string }>(
          `select session_id as id from event_search where tsv @@ 'word' union all select session_id from session_search where tsv @@ 'word'`,
        )
        expect(found.map(({ id }) => id).toSorted()).toEqual([posted, imported, written, renamed].toSorted())
        expect(looked).toBeLessThan(FEW)
      })

      test('is compared page by page: one that fails stops no other, and is compared again', async () => {
        const compared: string[] = []
        let broken = ''
        const comparison = new Comparison(database(), async (ids) => {
          broken ||= ids[0]!
          if (ids.includes(broken)) throw new Error('not this page')
          compared.push(...ids)
        })
        const failing = () => expect(comparison.run(() => true)).rejects.toThrow('not this page')
        await failing()
        expect(compared).toEqual([])
        await failing() // once the others are done
        const others = new Set(compared)
        expect([compared.length, others.size, others.has(broken)]).toEqual([others.size, compared.length, false])
        broken = 'none'
        let pages = 0
        while (comparison.isDue) await comparison.run(() => pages++ % 3 < 2) // a page at a time
        expect(new Set(compared).size).toBe(SESSIONS)
        expect(compared).toHaveLength(SESSIONS)
      })
    })
  },
  {},
  { intervals: { index: NEVER_MS, presence: NEVER_MS } },
)
