// An agent's answer is posted as chat and repeats the last response of its trace: both stand in the log, and count once for readers.

const BLANKS = `E' \\n\\r\\t'`

const FARTHEST = 100 // events between an imported answer and what it repeats

/** The sequence of the response that a task's answer repeats, as SQL: `chat` is an event of the type chat with a task_id. Null where it repeats
 *  none. Read from the answer backwards, to the beginning of its task at most. A task of an imported session has no row: then not beyond the
 *  answer's turn, and not far, for a feed may have any number of answers that repeat nothing. */
export const repeatedBy = (chat: string): string => `(
  select case when btrim(r.content->>'text', ${BLANKS}) = btrim(${chat}.content->>'text', ${BLANKS}) then r.sequence end from events r
  where r.session_id = ${chat}.session_id and r.sequence < ${chat}.sequence and r.task_id = ${chat}.task_id and r.type = 'assistant_response'
    and r.sequence > coalesce((select start_sequence from tasks where id = ${chat}.task_id),
      ${chat}.sequence - least(${chat}.ordinal, ${FARTHEST}))
  order by r.sequence desc limit 1)`
