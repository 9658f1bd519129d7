import { escapeInvisible } from '../../src/core/text/escape-invisible.ts'
import { cn } from './cn.ts'

/** An author: a team with its colour (0 to 11), or a person, who has none. */
export interface Team {
  name: string
  hue: number | undefined
}

export const initials = (name: string): string =>
  escapeInvisible(name, () => '')
    .replace(/[’']s\b/g, '')
    .split(/[\s/_-]+/)
    .filter((word) => /[\p{L}\p{N}]/u.test(word))
    .slice(0, 2)
    .map((word) => /[\p{L}\p{N}]/u.exec(word)![0])
    .join('')
    .toUpperCase()

const SIZES = {
  default: 'size-7 rounded-md text-[11px]',
  small: 'size-6 rounded text-[9px]',
  tiny: 'size-4.5 rounded text-[8px]',
}

export const TeamMark = ({ team, size = 'default', faded }: { team: Team; size?: keyof typeof SIZES; faded?: boolean }) => (
  <span
    data-hue={team.hue}
    aria-hidden="true"
    className={cn(
      'grid shrink-0 place-items-center font-semibold tracking-wide',
      SIZES[size],
      team.hue === undefined ? 'bg-foreground text-background' : 'bg-team-tint text-team',
      faded && 'saturate-[.35]',
    )}
  >
    {initials(team.name) || '?'}
  </span>
)

/** dir="auto" isolates the name: one that runs from right to left leaves the rest of its line in place. */
export const TeamName = ({ team }: { team: Team }) => (
  <b dir="auto" data-hue={team.hue} className={team.hue === undefined ? 'font-medium text-foreground' : 'font-medium text-team'}>
    {escapeInvisible(team.name)}
  </b>
)
