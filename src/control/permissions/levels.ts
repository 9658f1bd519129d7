// Permission modes from low to high: what may be raised, and what only some runners allow.
import type { PermissionMode } from '../schemas.ts'

const LEVELS: Record<PermissionMode, number> = {
  plan: 0,
  default: 1,
  ask: 1,
  acceptEdits: 2,
  auto: 2,
  'on-failure': 2,
  bypassPermissions: 3,
  'allow-all': 3,
}

export const levelOf = (mode: string | null): number => LEVELS[mode as PermissionMode] ?? 0

/** With its permissions switched off an agent works only where its runner was started with --allow-bypass. */
export const isBypass = (mode: string | null): boolean => levelOf(mode) === LEVELS.bypassPermissions
