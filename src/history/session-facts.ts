// The fields of a session, in every answer of history that has one.
import { z } from 'zod'
import type { SessionRow } from '../stores/history.ts'
import { sessionRef } from './ids.ts'

export const sessionFacts = z.object({
  id: z.string(),
  title: z.string(),
  source: z.string(),
  started_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  completed: z.boolean(),
})

export const factsOf = ({ id, title, source, started_at, updated_at, completed }: SessionRow): z.output<typeof sessionFacts> => ({
  id: sessionRef(id),
  title,
  source,
  started_at,
  updated_at,
  completed,
})

/** The fewer fields beside a turn or an event of the session. */
export const sessionBrief = ({ id, title, source }: SessionRow) => ({ id: sessionRef(id), title, source })
