// A list of ids is one parameter. Otherwise there would be another statement for each number of ids, and every connection to Postgres keeps
// each statement that it has prepared.
import { expect, test } from 'bun:test'
import { queriesOver, type Queries } from '../../db/database.ts'
import { conclusionsOf } from '../../src/stores/documents.ts'
import { rostersOf } from '../../src/stores/members.ts'
import { lastEventsOf, messageCounts, pulsesOf } from '../../src/stores/home-queries.ts'
import { listSessions, newestSequences, overviewsOf, titlesOf } from '../../src/stores/sessions.ts'
import { sessionsWithDocs } from '../../src/stores/live-state.ts'

const READS: Record<string, (queries: Queries, ids: string[]) => PromiseLike<unknown> | unknown> = {
  conclusionsOf: (queries, ids) => conclusionsOf(queries, ids, 100),
  lastEventsOf,
  listSessions: (queries, ids) => listSessions(queries, { among: ids, search: 'parser', found: ids, limit: 10 }),
  messageCounts,
  newestSequences,
  overviewsOf: (queries, ids) => overviewsOf(queries, ids, 30),
  pulsesOf: (queries, ids) => pulsesOf(queries, ids, '2026-01-01T12:00:00Z'),
  rostersOf,
  sessionsWithDocs: (queries, ids) => sessionsWithDocs(queries, ids, 30),
  titlesOf,
}

test.each(Object.keys(READS))('%s asks about any number of sessions in the same words', async (name) => {
  const textsOf = async (count: number) => {
    const texts: string[] = []
    const queries = queriesOver(async ({ text }) => {
      texts.push(text)
      return []
    })
    await READS[name]!(
      queries,
      Array.from({ length: count }, () => crypto.randomUUID()),
    )
    return texts
  }
  const [one, two, many] = await Promise.all([1, 2, 50].map(textsOf))
  expect(one).not.toBeEmpty()
  expect([two, many]).toEqual([one, one])
})
