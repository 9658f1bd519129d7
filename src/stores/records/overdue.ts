// A proposal's state as every reader sees it: overdue is expired by the database's clock, also while that is not written down yet.
import { sql } from 'drizzle-orm'
import { proposals, type PROPOSAL_STATUSES } from '../../../db/records-schema.ts'

export const isOverdue = sql`${proposals.status} = 'pending' and ${proposals.expiresAt} <= clock_timestamp()`
export const STATUS = sql<(typeof PROPOSAL_STATUSES)[number]>`case when ${isOverdue} then 'expired' else ${proposals.status} end`
export const RESOLVED_AT = sql<string | null>`coalesce(${proposals.resolvedAt}, case when ${isOverdue} then ${proposals.expiresAt} end)`
