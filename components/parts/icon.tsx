import type { ComponentProps } from 'react'

// Lucide's shapes (ISC licence): symbols that each page holds once.
const SHAPES = {
  search: '<path d="m21 21-4.34-4.34"/><circle cx="11" cy="11" r="8"/>',
  records: '<path d="m3 17 2 2 4-4M3 7l2 2 4-4M13 6h8M13 12h8M13 18h8"/>',
  settings: '<path d="M14 17H5M19 7h-9"/><circle cx="17" cy="17" r="3"/><circle cx="7" cy="7" r="3"/>',
  copy: '<rect width="14" height="14" x="8" y="8" rx="2"/><path d="M4 16c-1.1 0-2-.9-2-2V4c0-1.1.9-2 2-2h10c1.1 0 2 .9 2 2"/>',
  inbox:
    '<path d="M22 12h-6l-2 3h-4l-2-3H2"/><path d="M5.45 5.11 2 12v6a2 2 0 0 0 2 2h16a2 2 0 0 0 2-2v-6l-3.45-6.89A2 2 0 0 0 16.76 4H7.24a2 2 0 0 0-1.79 1.11z"/>',
  join: '<path d="m10 17 5-5-5-5M15 12H3M15 3h4a2 2 0 0 1 2 2v14a2 2 0 0 1-2 2h-4"/>',
  leave: '<path d="m16 17 5-5-5-5M21 12H9M9 21H5a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2h4"/>',
  document: '<path d="M15 2H6a2 2 0 0 0-2 2v16a2 2 0 0 0 2 2h12a2 2 0 0 0 2-2V7zM14 2v5h5M16 13H8M16 17H8M10 9H8"/>',
  pencil: '<path d="M21.2 6.8a2.8 2.8 0 0 0-4-4L3.8 16.2 2 22l5.8-1.8z"/>',
  users:
    '<path d="M16 21v-2a4 4 0 0 0-4-4H6a4 4 0 0 0-4 4v2"/><circle cx="9" cy="7" r="4"/><path d="M22 21v-2a4 4 0 0 0-3-3.87M16 3.13a4 4 0 0 1 0 7.75"/>',
  message: '<path d="M21 15a2 2 0 0 1-2 2H7l-4 4V5a2 2 0 0 1 2-2h14a2 2 0 0 1 2 2z"/>',
  flag: '<path d="M4 22V3s1-1 4-1 5 2 8 2 4-1 4-1v12s-1 1-4 1-5-2-8-2-4 1-4 1"/>',
  reopen: '<path d="M3 12a9 9 0 1 0 9-9 9.75 9.75 0 0 0-6.74 2.74L3 8"/><path d="M3 3v5h5"/>',
  bell: '<path d="M10.3 21a2 2 0 0 0 3.4 0M6 8a6 6 0 0 1 12 0c0 7 3 9 3 9H3s3-2 3-9"/>',
  plug: '<path d="M12 22v-5M15 8V2M17 8a1 1 0 0 1 1 1v4a4 4 0 0 1-4 4h-4a4 4 0 0 1-4-4V9a1 1 0 0 1 1-1zM9 8V2"/>',
  key: '<path d="m15.5 7.5 2.3 2.3a1 1 0 0 0 1.4 0l2.1-2.1a1 1 0 0 0 0-1.4L19 4M21 2l-9.6 9.6"/><circle cx="7.5" cy="15.5" r="5.5"/>',
  system: '<circle cx="12" cy="12" r="9"/><path d="M12 3v18"/><path d="M12 3a9 9 0 0 1 0 18z" fill="currentColor"/>',
  light:
    '<circle cx="12" cy="12" r="4"/><path d="M12 2v2M12 20v2M4.93 4.93l1.41 1.41M17.66 17.66l1.41 1.41M2 12h2M20 12h2M6.34 17.66l-1.41 1.41M19.07 4.93l-1.41 1.41"/>',
  dark: '<path d="M21 12.8A9 9 0 1 1 11.2 3 7 7 0 0 0 21 12.8z"/>',
  down: '<path d="M12 5v14M19 12l-7 7-7-7"/>',
  chevron: '<path d="m9 18 6-6-6-6"/>',
  send: '<path d="m5 12 7-7 7 7M12 19V5"/>',
  plus: '<path d="M5 12h14M12 5v14"/>',
  more: '<circle cx="12" cy="12" r="1"/><circle cx="19" cy="12" r="1"/><circle cx="5" cy="12" r="1"/>',
  download: '<path d="M12 15V3M21 15v4a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2v-4"/><path d="m7 10 5 5 5-5"/>',
  history: '<path d="M3 12a9 9 0 1 0 9-9 9.75 9.75 0 0 0-6.74 2.74L3 8"/><path d="M3 3v5h5M12 7v5l4 2"/>',
  fork: '<circle cx="12" cy="18" r="3"/><circle cx="6" cy="6" r="3"/><circle cx="18" cy="6" r="3"/><path d="M18 9v2c0 .6-.4 1-1 1H7c-.6 0-1-.4-1-1V9M12 12v3"/>',
  resume: '<path d="m15 17 5-5-5-5"/><path d="M4 18v-2a4 4 0 0 1 4-4h12"/>',
  turns: '<path d="M3 6h.01M3 12h.01M3 18h.01M8 6h13M8 12h13M8 18h13"/>',
  spark:
    '<path d="M11 2.8a1 1 0 0 1 2 0l1 5.6A2 2 0 0 0 15.6 10l5.6 1a1 1 0 0 1 0 2l-5.6 1a2 2 0 0 0-1.6 1.6l-1 5.6a1 1 0 0 1-2 0l-1-5.6A2 2 0 0 0 8.4 14l-5.6-1a1 1 0 0 1 0-2l5.6-1A2 2 0 0 0 10 8.4z"/>',
  thought:
    '<path d="M15 14c.2-1 .7-1.7 1.5-2.5 1-.9 1.5-2.2 1.5-3.5A6 6 0 0 0 6 8c0 1 .2 2.2 1.5 3.5.7.7 1.3 1.5 1.5 2.5M9 18h6M10 22h4"/>',
  tool: '<path d="M12 19h8M4 17l6-6-6-6"/>',
  result: '<path d="m15 10 5 5-5 5"/><path d="M4 4v7a4 4 0 0 0 4 4h12"/>',
  fold: '<path d="m14 10 7-7M20 10h-6V4M3 21l7-7M4 14h6v6"/>',
  archive: '<path d="M2 3h20v5H2zM4 8v13h16V8M10 12h4"/>',
  dot: '<circle cx="12" cy="12" r="2.5" fill="currentColor"/>',
}

export type IconName = keyof typeof SHAPES

/** A shape by a name from elsewhere; a dot if there is no such shape. */
export const iconNamed = (name: string): IconName => (Object.hasOwn(SHAPES, name) ? (name as IconName) : 'dot')

const symbol = (name: string, shape: string) =>
  `<symbol id="i-${name}" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round">${shape}</symbol>`

// Shapes that one kind of page uses alone: the others go without, as with scripts (components/site/shell.tsx).
const ONLY = {
  home: ['plus', 'fork'],
  trace: ['spark', 'thought', 'tool', 'result', 'fold'],
} satisfies Record<string, IconName[]>

const symbolsWithout = (names: string[]): string =>
  Object.entries(SHAPES)
    .map(([name, shape]) => (names.includes(name) ? '' : symbol(name, shape)))
    .join('')

const SYMBOLS: Partial<Record<string, string>> = {
  home: symbolsWithout(ONLY.trace),
  trace: symbolsWithout(ONLY.home),
  agents: symbolsWithout(['fork', ...ONLY.trace]), // one adds a worktree
}
const OTHERS = symbolsWithout([...ONLY.home, ...ONLY.trace])

/** The symbols that the icons of a kind of page refer to, hidden. */
export const Icons = ({ kind = '' }: { kind: string | undefined }) => (
  <svg className="hidden" aria-hidden="true" dangerouslySetInnerHTML={{ __html: SYMBOLS[kind] ?? OTHERS }} />
)

export const Icon = ({ name, className = 'size-4', ...props }: { name: IconName } & ComponentProps<'svg'>) => (
  <svg className={className} aria-hidden="true" {...props}>
    <use href={`#i-${name}`} />
  </svg>
)
