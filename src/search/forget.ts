// Takes a session's events out of the index of events, with all that they counted for. The terms of its
// title and document (session_search) go when its row is deleted (stores/purge.ts).
import type { Queries } from '../../db/database.ts'
import { plainArray } from '../../db/arrays.ts'
import type { LogEnd } from '../stores/purge.ts'
import { INDEX_LOCK } from './event-index.ts'
import { LEVELS } from './tokenizer.ts'

// What event-index.ts added: `tsv` has each term of an event once, `hot` each weighty one behind its level. Of an index that is being rebuilt,
// the events that it is to have become fewer.
const FORGET = `
with gone as materialized (
  delete from event_search where session_id = $1 and turn = any($2::int[]) and sequence > $3 returning tsv, hot, length
), counted as (
  select lexeme as term, count(*)::int as events from gone, unnest(tsv) group by lexeme
), weighty as (
  select substr(lexeme, 2) as term, array[${LEVELS.map((_, level) => `(count(*) filter (where left(lexeme, 1) = '${level}'))::int`).join(', ')}] as levels
  from gone, unnest(hot) group by substr(lexeme, 2)
), corpus as (
  update search_corpus set events = events - (select count(*) from gone), length = length - (select coalesce(sum(length), 0) from gone),
    rebuilding = rebuilding - (select count(*) from gone) - $4::int
), session as (
  update session_index set indexed_sequence = least(indexed_sequence, $3), messages = messages - $5::int where session_id = $1
)
update search_terms t set events = t.events - c.events, levels = case when w.levels is null then t.levels
  else array[${LEVELS.map((_, i) => `t.levels[${i + 1}] - w.levels[${i + 1}]`).join(', ')}] end
from counted c left join weighty w using (term) where t.term = c.term`

/** Waits until nobody writes the index, which is this transaction's then. Comes before the lock of a session. */
export const lockIndex = ({ query }: Queries): Promise<unknown> => query('select pg_advisory_xact_lock($1)', [INDEX_LOCK])

/** To be called in the transaction that deletes these events from the log, after `lockIndex`. */
export const forgetEvents = async ({ query }: Queries, sessionId: string, end: LogEnd): Promise<void> => {
  const { after, turns, unindexed, messages } = end
  const terms = await query<{ term: string; events: number }>(`${FORGET} returning t.term, t.events`, [
    sessionId,
    plainArray(turns),
    after,
    unindexed,
    messages,
  ])
  const unused = terms.filter(({ events }) => events <= 0).map(({ term }) => term)
  await query(`delete from search_terms where term in (select value collate "C" from json_array_elements_text($1::json))`, [
    JSON.stringify(unused),
  ])
}
