// Stores the names that an answer gives out, so that their ids can be looked up from then on.
import type { z } from 'zod'
import type { Queries } from '../../../db/database.ts'
import type { Named } from '../../../db/records-schema.ts'
import { rememberPersons } from '../../stores/records/persons.ts'
import type { actionItemRow, decisionRow } from '../record-answer.ts'
import type { meetingRow } from './meeting-answer.ts'

interface Rows {
  meetings?: readonly z.output<typeof meetingRow>[]
  action_items?: readonly z.output<typeof actionItemRow>[]
  decisions?: readonly z.output<typeof decisionRow>[]
}

/** Stores everybody whom these rows name. One statement. */
export const rememberNamed = (queries: Queries, { meetings = [], action_items = [], decisions = [] }: Rows): Promise<void> => {
  const named: (Named | null)[] = [
    ...meetings.flatMap(({ attendees }) => attendees),
    ...action_items.map(({ owner }) => owner),
    ...decisions.map(({ decided_by }) => decided_by),
    ...[...action_items, ...decisions].flatMap(({ proposed_by, approved_by }) => [proposed_by, approved_by]),
  ]
  return rememberPersons(queries, named)
}
