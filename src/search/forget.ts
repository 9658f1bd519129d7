// Takes a session's events out of the index of events, with all that they counted for. Those of its own row go with that.
import type { Queries } from '../../db/database.ts'
import { INDEX_LOCK } from './event-index.ts'
import { LEVELS } from './tokenizer.ts'

// What event-index.ts added: `tsv` has each term of an event once, `hot` each weighty one behind its level.
const FORGET = `
with gone as materialized (
  delete from event_search where session_id = $1 returning tsv, hot, length
), counted as (
  select lexeme as term, count(*)::int as events from gone, unnest(tsv) group by lexeme
), weighty as (
  select substr(lexeme, 2) as term, array[${LEVELS.map((_, level) => `(count(*) filter (where left(lexeme, 1) = '${level}'))::int`).join(', ')}] as levels
  from gone, unnest(hot) group by substr(lexeme, 2)
), corpus as (
  update search_corpus set events = events - (select count(*) from gone), length = length - (select coalesce(sum(length), 0) from gone),
    rebuilding = rebuilding - (select count(*) from gone) - coalesce((select s.last_sequence - i.indexed_sequence
      from sessions s join session_index i on i.session_id = s.id where s.id = $1), 0)
)
update search_terms t set events = t.events - c.events, levels = case when w.levels is null then t.levels
  else array[${LEVELS.map((_, i) => `t.levels[${i + 1}] - w.levels[${i + 1}]`).join(', ')}] end
from counted c left join weighty w using (term) where t.term = c.term`

/** To be called in the transaction that deletes the session. */
export const forgetEvents = async ({ query }: Queries, sessionId: string): Promise<void> => {
  await query('select pg_advisory_xact_lock($1)', [INDEX_LOCK])
  const terms = await query<{ term: string; events: number }>(`${FORGET} returning t.term, t.events`, [sessionId])
  const unused = terms.filter(({ events }) => events <= 0).map(({ term }) => term)
  await query(`delete from search_terms where term in (select value collate "C" from json_array_elements_text($1::json))`, [
    JSON.stringify(unused),
  ])
}
