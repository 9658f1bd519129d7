// The scripts that only some pages load, or a page only when it is wanted: each is built (styles.ts), served (src/pages/assets.ts) and loaded
// (components/site/shell.tsx, or another script) by its name here.
export const SCRIPTS = [
  'again.js',
  'agents.js',
  'approvals.js',
  'cards.js',
  'counted.js',
  'dialog.js',
  'gap.js',
  'help.js',
  'home.js',
  'push.js',
  'settings.js',
  'sides.js',
  'status.js',
  'trace.js',
  'typed.js',
] as const

export type Script = (typeof SCRIPTS)[number]
