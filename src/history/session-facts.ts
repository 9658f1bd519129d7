// What the tools of history tell of a session, wherever they name one.
import { z } from 'zod'
import type { SessionRow } from '../stores/history.ts'
import { sessionName } from './ids.ts'

export const sessionFacts = z.object({
  id: z.string(),
  title: z.string(),
  source: z.string(),
  started_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  completed: z.boolean(),
})

export const factsOf = ({ id, title, source, started_at, updated_at, completed }: SessionRow): z.output<typeof sessionFacts> => ({
  id: sessionName(id),
  title,
  source,
  started_at,
  updated_at,
  completed,
})

/** As much as what is opened within it tells. */
export const briefly = ({ id, title, source }: SessionRow) => ({ id: sessionName(id), title, source })
