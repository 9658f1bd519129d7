import type { Queries } from '../../../db/database.ts'

/** The session that a team belongs to, by its handle. */
export const sessionOfTeam = async ({ query }: Queries, handle: string): Promise<string | undefined> => {
  const [row] = await query<{ session_id: string }>('select session_id from participants where team_id = $1', [handle])
  return row?.session_id
}
