// Teams that share out work.
import { done, type Call, type Seat, type Served, room, seat } from './parley.ts'

/** Alex's Team, who convenes, Bea's Team and Cleo's Team. */
export const threeTeams = async (call: Call) => {
  const { id, alex, bea } = await room(call)
  const cleo = seat(call, await done(call('join_session', { session_id: id, team_name: "Cleo's Team" })))
  return { id, alex, bea, cleo }
}

/** Plans work; items may be their titles alone. */
export const plan = async (who: Seat, items: (string | Record<string, unknown>)[], more: Record<string, unknown> = {}): Promise<any[]> => {
  const given = items.map((item) => (typeof item === 'string' ? { title: item } : item))
  return (await done(who('plan_work', { items: given, ...more }))).items
}

/** The item that a team got; null for none. */
export const claim = async (who: Seat, item?: { item_id: string }, more: Record<string, unknown> = {}): Promise<any> =>
  (await done(who('claim_work', { ...(item && { item_id: item.item_id }), ...more }))).item

export const update = async (who: Seat, item: { item_id: string }, changes: Record<string, unknown>): Promise<any> =>
  (await done(who('update_work', { item_id: item.item_id, ...changes }))).item

/** One item, whole, as this team reads it. */
export const itemOf = async (who: Seat, item: { item_id: string }): Promise<any> =>
  (await done(who('list_work', { item_id: item.item_id }))).items[0]

/** The events of the board in a session's log, those that wake nobody too. */
export const workEvents = async ({ database }: Served, sessionId: string): Promise<Record<string, any>[]> => {
  const rows = await database.query<{ type: string; content: Record<string, unknown> }>(
    `select type, content from events where session_id = $1 and content->>'event' like 'work_%' order by sequence`,
    [sessionId],
  )
  return rows.map(({ type, content }) => ({ type, ...content }))
}

/** The team was last seen so many seconds ago, and its claims were last renewed then. */
export const silentFor = async ({ database, services }: Served, sessionId: string, { handle }: Seat, seconds: number): Promise<void> => {
  services.calledTeams.delete(handle)
  services.presence.drain()
  const ago = (than = 0) => `statement_timestamp() - ${seconds - than} * interval '1 second'`
  const where = 'session_id = $1 and'
  const isSilent = async () => {
    const newer = await database.query(
      `select from items where ${where} claimed_team_id = $2 and claim_renewed_at > ${ago(1)}
       union all select from participants where ${where} team_id = $2 and last_seen_at > ${ago(1)}`,
      [sessionId, handle],
    )
    return newer.length === 0
  }
  // Presence that was being written when the team was forgotten here may land after these updates: they are made until they stand.
  for (let stood = 0; stood < 3; stood = (await isSilent()) ? stood + 1 : 0) {
    await database.query(`update items set claim_renewed_at = ${ago()} where ${where} claimed_team_id = $2`, [sessionId, handle])
    await database.query(`update participants set last_seen_at = ${ago()}, polling_until = null where ${where} team_id = $2`, [
      sessionId,
      handle,
    ])
    await Bun.sleep(50)
  }
}
