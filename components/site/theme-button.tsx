// The header's button that changes from one theme to the next.
import { cn } from '../parts/cn.ts'
import { Icon } from '../parts/icon.tsx'
import { Button } from '../ui/button.tsx'
import { THEMES, type Theme } from './theme.ts'

/** One button for each theme, of which only the current theme's shows: public/theme.js changes nothing but the theme. */
export const ThemeButton = ({ path, className }: { path: string; className: string | undefined }) => (
  <form method="post" action="/theme" className={cn('flex', className)}>
    <input type="hidden" name="back" value={path} />
    {THEMES.map((theme, i) => {
      const next = THEMES[(i + 1) % THEMES.length]!
      const label = `Theme: ${theme}. Switch to ${next}`
      return (
        <Button
          key={theme}
          type="submit"
          variant="ghost"
          size="icon"
          name="theme"
          value={next}
          aria-label={label}
          title={label}
          className={IN_FORCE[theme]}
        >
          <Icon name={theme} />
        </Button>
      )
    })}
  </form>
)

const IN_FORCE: Record<Theme, string> = {
  system: '[html:not(.system)_&]:hidden',
  light: '[html:not(.light)_&]:hidden',
  dark: '[html:not(.dark)_&]:hidden',
}
