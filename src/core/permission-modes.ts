// The permission modes of driven agents, from low to high: what may be raised, and what only some runners allow. The server, its pages and the
// runner judge by the same rule.
export const PERMISSION_MODES = ['default', 'acceptEdits', 'bypassPermissions', 'plan', 'ask', 'auto', 'on-failure', 'allow-all'] as const
export type PermissionMode = (typeof PERMISSION_MODES)[number]

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

/** How much a mode allows. One that is not ours allows nothing by itself. */
export const levelOf = (mode: string | null): number => (isMode(mode) ? LEVELS[mode] : 0)

const isMode = (mode: string | null): mode is PermissionMode => mode !== null && Object.hasOwn(LEVELS, mode)

/** With its permissions switched off an agent works only where its runner was started with --allow-bypass. */
export const isBypass = (mode: string | null): boolean => levelOf(mode) === LEVELS.bypassPermissions
