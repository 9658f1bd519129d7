import { Icon } from '../parts/icon.tsx'
import { TextLink } from '../parts/text-link.tsx'
import { LinkCard, type McpLink, type Notice } from './link-card.tsx'
import { LoopGuardForm, type LoopGuardChoice } from './loop-guard-form.tsx'
import { NoticesPanel, type NoticesView } from './notices-panel.tsx'
import { Shell, type Frame } from './shell.tsx'
import { THEMES } from './theme.ts'
import { Button } from '../ui/button.tsx'
import { Card, CardContent, CardDescription, CardHeader, CardTitle } from '../ui/card.tsx'
import { VariablesTable, type VariableGroup } from './variables-table.tsx'
import { WakesForm, type WakesChoice } from './wakes-form.tsx'

interface Props {
  frame: Frame
  link: McpLink
  /** The URL of the program `parley`, if this server hands one out. */
  program: string | undefined
  groups: VariableGroup[]
  loopGuard: LoopGuardChoice
  wakes: WakesChoice
  notice: Notice | undefined
  /** For signed-in people. */
  notices: NoticesView | undefined
  /** The link that was rejected. */
  typed: string | undefined
}

export const SettingsPage = ({ frame, link, program, groups, loopGuard, wakes, notice, notices, typed }: Props) => (
  <Shell frame={frame} title="Settings · Parley" kind="settings" crumbs={[{ label: 'Settings' }]}>
    <main id="main" className="mx-auto grid w-full max-w-5xl gap-x-8 gap-y-5 px-4 py-7 sm:px-6 md:grid-cols-[10rem_minmax(0,1fr)]">
      <nav
        id="sections"
        aria-label="Settings sections"
        className="flex gap-0.5 overflow-x-auto text-[13px] md:sticky md:top-7 md:flex-col md:self-start"
      >
        {[{ id: 'link', title: 'Connection' }, ...groups, { id: 'theme', title: 'Theme' }].map(({ id, title }) => (
          <a
            key={id}
            href={`#${id}`}
            className="shrink-0 rounded-md px-2.5 py-1.5 -outline-offset-2 text-muted-foreground hover:bg-secondary hover:text-foreground aria-[current]:bg-accent"
          >
            {title}
          </a>
        ))}
      </nav>
      <div className="grid min-w-0 gap-6">
        <div>
          <h1 className="text-xl font-semibold tracking-[-0.02em]">Settings</h1>
          <p className="mt-0.5 text-[13px] text-muted-foreground">
            Environment variables (also from .env) are read at startup; restart after changing one.{' '}
            <TextLink href="/settings/keys">Keys and sign-ins</TextLink>, <TextLink href="/status">the server’s status</TextLink> and{' '}
            <TextLink href="/worktrees">worktrees of agents</TextLink> have pages of their own.
          </p>
        </div>
        <LinkCard frame={frame} link={link} program={program} notice={notice?.at === undefined ? notice : undefined} typed={typed} />
        {groups.map((group) => (
          <Card key={group.id} id={group.id} aria-label={group.title}>
            <CardHeader>
              <CardTitle>{group.title}</CardTitle>
              <CardDescription>{group.about}</CardDescription>
            </CardHeader>
            {group.id === 'thresholds' && frame.person?.role === 'person' && (
              <>
                <LoopGuardForm {...loopGuard} />
                <WakesForm {...wakes} />
              </>
            )}
            {group.id === 'notifications' && notices && (
              <NoticesPanel notices={notices} notice={notice?.at === 'notifications' ? notice : undefined} />
            )}
            {group.id === 'notifications' && !frame.person && (
              <p className="px-4 pt-3 text-[13px] text-muted-foreground">
                <TextLink href="/sign-in?next=/settings">Sign in to be told in this browser</TextLink>.
              </p>
            )}
            <CardContent className="px-0 pb-1">
              <VariablesTable {...group} />
            </CardContent>
          </Card>
        ))}
        <ThemeCard frame={frame} />
      </div>
    </main>
  </Shell>
)

const THEME_LABELS = { system: 'System', light: 'Light', dark: 'Dark' }

const ThemeCard = ({ frame }: { frame: Frame }) => (
  <Card id="theme" aria-label="Theme">
    <CardHeader>
      <CardTitle>Theme</CardTitle>
      <CardDescription>Kept in a cookie in this browser.</CardDescription>
    </CardHeader>
    <CardContent>
      <form method="post" action="/theme" className="flex w-fit gap-0.5 rounded-md border p-0.5">
        <input type="hidden" name="back" value="/settings" />
        {THEMES.map((theme) => (
          <Button
            key={theme}
            type="submit"
            variant="ghost"
            size="sm"
            name="theme"
            value={theme}
            aria-pressed={theme === frame.theme}
            className="aria-pressed:bg-secondary aria-pressed:text-secondary-foreground"
          >
            <Icon name={theme} />
            {THEME_LABELS[theme]}
          </Button>
        ))}
      </form>
    </CardContent>
  </Card>
)
