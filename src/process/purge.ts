// Deletes sessions for good, as an operator orders: from the log, the index and the memory of every instance.
import { z } from 'zod'
import { topicOf } from '../log/topics.ts'
import { forgetEvents } from '../search/forget.ts'
import { deleteOpenAnswers, deleteSession, purgeableByAge, purgeableById, type Purgeable } from '../stores/purge.ts'
import type { Services } from './services.ts'
import { PURGED_TOPIC } from './publish.ts'

/** What the words after `bun run purge` ask for. */
export const purgeOrder = z.object({
  ids: z.array(z.uuid()),
  days: z.number().optional(),
  kinds: z.array(z.enum(['rooms', 'traces'])),
  /** Without it nothing is deleted. */
  yes: z.boolean(),
})
export type PurgeOrder = z.infer<typeof purgeOrder>

export interface PurgeAnswer {
  sessions: Purgeable[]
  /** Ids that no session has, or that were purged before. */
  unknown: string[]
  purged: number
}

const MAY_TAKE_MS = 30 * 60_000 // for one session: a trace can have a million events

/** Finds what an order names, and with `yes` deletes it, a session at a time. A purge that was interrupted is run again. */
export const purge = async (services: Services, { ids, days, kinds, yes }: PurgeOrder): Promise<PurgeAnswer> => {
  const { database } = services
  const named = ids.length > 0 ? await purgeableById(database, ids) : []
  const old = days === undefined ? [] : await database.unhurried((tx) => purgeableByAge(tx, days, kinds), MAY_TAKE_MS)
  const found = [...new Map([...named, ...old].map((session) => [session.id, session])).values()]
  const going = yes ? found.map(({ id }) => id) : []
  if (going.length > 0) await database.unhurried((tx) => deleteOpenAnswers(tx, going), MAY_TAKE_MS)
  let purged = 0
  for (const id of going) if (await purgeOne(services, id)) purged++
  return { sessions: found, unknown: ids.filter((id) => !named.some((session) => session.id === id)), purged }
}

const purgeOne = async ({ database, publishTopic }: Services, id: string): Promise<boolean> => {
  const gone = await database.unhurried(async (tx) => {
    await forgetEvents(tx, id)
    return deleteSession(tx, id)
  }, MAY_TAKE_MS)
  if (gone) publishTopic(topicOf(PURGED_TOPIC, id), Date.now())
  return gone
}
