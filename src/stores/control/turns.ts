import type { Queries } from '../../../db/database.ts'

/** The number of events in a turn that is no longer the log's open one. Reads the log from the turn's first event on. */
export const eventOrdinalsEnd = async ({ query }: Queries, sessionId: string, turn: number, from: number): Promise<number> => {
  const [row] = await query<{ last: number | null }>(
    'select max(ordinal) as last from events where session_id = $1 and sequence >= $2 and turn = $3',
    [sessionId, from, turn],
  )
  return row?.last ?? 0
}
