import type { Queries } from '../../db/database.ts'
import { uuid7 } from '../core/ids.ts'
import { KINDS, type NoticeKindName } from './kinds.ts'

/** Something that people are to be told of a session. */
export interface Fact {
  kind: NoticeKindName
  sessionId: string
  /** Which fact of this kind it is (the time of a mark, an event's id): the same one is told once, whoever finds it and however often. */
  about: string
}

const MOST_PER_HOUR = 20 // of one session, all kinds together

const TELL = `
insert into notices (id, session_id, kind, about)
select f.id, f.session_id, f.kind, f.about
from json_to_recordset($1::json) as f(id uuid, session_id uuid, kind text, about text, quiet_s int)
where not exists (select from notices n
    where n.session_id = f.session_id and n.kind = f.kind and n.about <> f.about and n.at > now() - f.quiet_s * interval '1 second')
  and (select count(*) from notices n where n.session_id = f.session_id and n.at > now() - interval '1 hour') < ${MOST_PER_HOUR}
on conflict (session_id, kind, about) do nothing`

/** Has people told of these facts, by every way that they have chosen (courier.ts), within seconds of the commit: called in the transaction
 *  that makes a fact true, or by a job that finds it, which may find it again and again. Of a session that was just told of, or too often,
 *  nothing is kept: who looks there sees the newest state. */
export const notifyPeople = async ({ query }: Queries, facts: readonly Fact[]): Promise<void> => {
  const rows = facts.map(({ kind, sessionId, about }) => ({
    id: uuid7(),
    session_id: sessionId,
    kind,
    about,
    quiet_s: KINDS[kind].quietS,
  }))
  if (rows.length > 0) await query(TELL, [JSON.stringify(rows)])
}
