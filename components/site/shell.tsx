import type { ReactNode } from 'react'
import { escapeInvisible } from '../../src/core/text/escape-invisible.ts'
import { cn } from '../parts/cn.ts'
import { Icon, Icons } from '../parts/icon.tsx'
import { Reconnecting } from '../parts/reconnecting.tsx'
import type { Script } from '../scripts.ts'
import { SearchBox } from '../search/search-box.tsx'
import { ApprovalsLink } from './approvals-link.tsx'
import type { Theme } from './theme.ts'
import { ThemeButton } from './theme-button.tsx'
import { Badge } from '../ui/badge.tsx'
import { Button, LinkButton } from '../ui/button.tsx'

/** What every page knows about its reader and its address. */
export interface Frame {
  theme: Theme
  /** A guest reads one session by its shared link: all other pages are closed to a guest. */
  person: { name: string; role: 'person' | 'reader' | 'guest' } | undefined
  /** This page's path, for links that lead back. */
  path: string
  /** How many things wait for a person. */
  waiting: number
  /** The address of a file of public/, which changes with its bytes. */
  hrefOf: (asset: string) => string
}

/** A link to skip to a part of the page. `when`: classes that hide the link where it leads nowhere. */
export interface Skip {
  label: string
  href: string
  when?: string
}

interface Props {
  frame: Frame
  title: string
  /** The page's place, after the product's name. */
  crumbs?: { label: string; href?: string }[]
  /** The page is as high as the window, and its panes scroll: from 1024 px on, or everywhere. A window too low for that scrolls. */
  full?: boolean | 'everywhere'
  /** Links for the keyboard. */
  skips?: Skip[]
  /** The id of the element that must have arrived before anything is painted: otherwise the growing feed would be seen to jump. */
  paintsWith?: string | undefined
  /** The kind of page, if it has icons or scripts of its own. */
  kind?: keyof typeof OF_KIND | undefined
  children: ReactNode
}

// Only the plain attribute names (data-hx-… works by default), no change of history or styles. Morphing leaves htmx's own marks alone, tabindex,
// which public/live/keys.js sets, and what the reader has unfolded.
const HTMX = JSON.stringify({
  prefix: '',
  history: false,
  includeIndicatorCSS: false,
  morphIgnore: ['data-htmx-powered', 'tabindex', 'open'],
})

// Scripts that one kind of page uses alone, or people who may act: they run after those of all pages. Why they are files of their own:
// README, "How it is built".
const OF_KIND = {
  home: ['home.js', 'counted.js'],
  settings: ['settings.js', 'push.js'],
  status: ['status.js'],
  trace: ['trace.js'],
  agents: ['agents.js'],
  approvals: ['cards.js', 'approvals.js', 'counted.js'],
} satisfies Record<string, Script[]>
const ACTORS: Script[] = ['dialog.js']
const scriptsOf = (kind: Props['kind'], { person }: Frame): string[] => [
  'app.js',
  ...(person?.role === 'person' ? ACTORS : []),
  ...(kind ? OF_KIND[kind] : []),
]

export const TO_CONTENT: Skip = { label: 'Skip to content', href: '#main' }

export const Shell = ({ frame, title, crumbs = [], full = false, skips = [TO_CONTENT], paintsWith, kind, children }: Props) => (
  <html lang="en" className={frame.theme} data-guest={isGuest(frame) || undefined} data-acts={frame.person?.role === 'person' || undefined}>
    <head>
      <meta charSet="utf-8" />
      <meta name="viewport" content="width=device-width,initial-scale=1" />
      <title>{escapeInvisible(title)}</title>
      <meta name="color-scheme" content={frame.theme === 'system' ? 'light dark' : frame.theme} />
      {paintsWith && <link rel="expect" href={`#${paintsWith}`} blocking="render" />}
      <meta name="htmx-config" content={HTMX} />
      <link rel="preload" href="/public/geist.woff2" as="font" type="font/woff2" crossOrigin="anonymous" />
      <link rel="stylesheet" href={frame.hrefOf('app.css')} />
      <link rel="icon" href="/public/icon.svg" type="image/svg+xml" />
      {scriptsOf(kind, frame).map((name) => (
        <script key={name} src={frame.hrefOf(name)} defer />
      ))}
    </head>
    <body
      className={cn(
        'flex min-h-dvh flex-col',
        full && 'lg:h-dvh lg:overflow-hidden low:overflow-visible',
        full === 'everywhere' && 'h-dvh',
      )}
    >
      {skips.map(({ label, href, when }) => (
        <a
          key={label + href}
          href={href}
          className={cn(
            'sr-only focus:not-sr-only focus:absolute focus:z-50 focus:m-2 focus:rounded-md focus:bg-primary focus:px-3 focus:py-1.5 focus:text-sm focus:text-primary-foreground',
            when,
          )}
        >
          {label}
        </a>
      ))}
      <Header frame={frame} crumbs={crumbs} />
      {(kind === 'home' || kind === 'approvals' || kind === 'status') && (
        <div className="sticky top-0 z-10">
          <Reconnecting />
        </div>
      )}
      {children}
      <Icons kind={kind} />
    </body>
  </html>
)

const isGuest = ({ person }: Frame) => person?.role === 'guest'

const Header = ({ frame, crumbs }: { frame: Frame; crumbs: NonNullable<Props['crumbs']> }) => (
  <header className="flex h-12 shrink-0 items-center gap-2 border-b bg-background px-3 sm:px-4">
    <a
      href={isGuest(frame) ? undefined : '/'}
      aria-label="Parley"
      className="flex items-center gap-2 rounded-md text-sm font-semibold tracking-tight"
    >
      <svg viewBox="0 0 20 20" className="size-5 text-brand" aria-hidden="true">
        <path fill="currentColor" opacity=".28" d="M4 2h8a4 4 0 0 1 4 4v3a4 4 0 0 1-4 4H8l-4 4v-4.5A4 4 0 0 1 2 9V6a4 4 0 0 1 2-4Z" />
        <path fill="currentColor" d="M7 6h7a3 3 0 0 1 3 3v3a3 3 0 0 1-2 2.800V18l-3-3H9a3 3 0 0 1-3-3V7a1 1 0 0 1 1-1Z" />
      </svg>
      <span className="max-[22rem]:hidden">Parley</span>
    </a>
    {crumbs.length > 0 && !isGuest(frame) && (
      <nav aria-label="Breadcrumb" className="flex min-w-0 items-center gap-1.5 text-[13px] text-muted-foreground max-[27rem]:hidden">
        {crumbs.map(({ label, href }, i) => (
          <span
            key={label}
            className={cn('flex min-w-0 items-center gap-1.5', i > 0 && 'max-sm:hidden', i === crumbs.length - 1 && 'shrink-[9999]')}
          >
            <Icon name="chevron" className="size-3.5 shrink-0 opacity-60" />
            {href ? (
              <a href={href} className="truncate hover:text-foreground">
                {label}
              </a>
            ) : (
              <span className="truncate">{label}</span>
            )}
          </span>
        ))}
      </nav>
    )}
    <div className="ml-auto flex items-center gap-1">
      {isGuest(frame) ? <Badge>Shared, read only</Badge> : <HeaderLinks search={!/^\/search\b/.test(frame.path)} waiting={frame.waiting} />}
      <ThemeButton path={frame.path} className={isGuest(frame) ? undefined : ELSEWHERE_ON_A_PHONE} />
      {!isGuest(frame) && <Identity frame={frame} />}
    </div>
  </header>
)

// Settings have the theme too, and home and sessions the way to connect: a phone's header has no room for all.
const ELSEWHERE_ON_A_PHONE = 'max-sm:hidden'

const HeaderLinks = ({ search, waiting }: { search: boolean; waiting: number }) => (
  <>
    {search && <Search />}
    <ApprovalsLink waiting={waiting} />
    <LinkButton variant="ghost" href="/records" title="Records" className="header-link">
      <Icon name="records" />
      <span className="max-lg:hidden">Records</span>
    </LinkButton>
    {search && (
      <LinkButton variant="ghost" size="icon" href="/search" aria-label="Search everything" title="Search everything" className="md:hidden">
        <Icon name="search" />
      </LinkButton>
    )}
    <LinkButton
      variant="ghost"
      size="icon"
      href="/connect"
      aria-label="Connect an agent"
      title="Connect an agent"
      className={ELSEWHERE_ON_A_PHONE}
    >
      <Icon name="plug" />
    </LinkButton>
    <LinkButton variant="ghost" size="icon" href="/settings" aria-label="Settings" title="Settings">
      <Icon name="settings" />
    </LinkButton>
  </>
)

// The key that leads here (public/parley.js) is shown while nothing is typed.
const Search = () => (
  <form action="/search" role="search" aria-label="Everything" className="relative mr-1 max-md:hidden">
    <SearchBox required aria-label="Search everything" placeholder="Search everything" className="peer w-52 lg:w-60" />
    <kbd
      aria-hidden="true"
      className="pointer-events-none absolute top-1.5 right-2 rounded border bg-secondary px-1.5 text-[11px] leading-4.5 text-muted-foreground peer-focus:hidden peer-not-placeholder-shown:hidden noscript:hidden"
    >
      /
    </kbd>
  </form>
)

const Identity = ({ frame: { person, path } }: { frame: Frame }) =>
  person ? (
    <form method="post" action="/sign-out" className="ml-1 flex items-center gap-2 border-l pl-2">
      <span className="max-w-40 truncate text-[12.5px] text-muted-foreground max-lg:hidden">
        {escapeInvisible(person.name)}
        {person.role === 'reader' && ' (reads only)'}
      </span>
      <Button type="submit" variant="ghost" size="icon" aria-label="Sign out" title="Sign out">
        <Icon name="leave" />
      </Button>
    </form>
  ) : (
    <LinkButton variant="outline" size="sm" className="ml-1" href={`/sign-in?next=${encodeURIComponent(path)}`}>
      Sign in
    </LinkButton>
  )
