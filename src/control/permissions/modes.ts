// The permission modes in their order: what each lets an agent do without asking.
import type { PermissionMode } from '../schemas.ts'

const RANKS: Record<PermissionMode, number> = {
  plan: 0,
  default: 1,
  ask: 1,
  acceptEdits: 2,
  auto: 2,
  'on-failure': 2,
  bypassPermissions: 3,
  'allow-all': 3,
}

/** The higher, the more it allows. A mode that is unknown here allows least. */
export const rankOf = (mode: string | null | undefined): number => RANKS[mode as PermissionMode] ?? 0
