import { visible } from '../src/core/visible.ts'
import type { Team } from './team.tsx'
import { clock, day } from './time.ts'

export interface Lane extends Team {
  id: string
  /** When it spoke, in milliseconds. */
  spoke: number[]
}

const WIDTH = 1000
const HEIGHT = 8
const GAP = 3
const EDGE = 6

/** Who spoke when: a lane for each team, a tick for each message. */
export const Lanes = ({ lanes }: { lanes: Lane[] }) => {
  const times = lanes.flatMap(({ spoke }) => [spoke[0]!, spoke.at(-1)!])
  const [from, to] = [Math.min(...times), Math.max(...times)]
  const x = (ms: number) => Math.round(EDGE + ((ms - from) / (to - from || 1)) * (WIDTH - 2 * EDGE))
  return (
    <figure className="shrink-0 border-b px-4 py-2.5 max-lg:hidden">
      <figcaption className="mb-1.5 flex justify-between text-[11px] text-muted-foreground">
        <span>Who spoke when</span>
        <span className="tabular-nums">{span(new Date(from).toISOString(), new Date(to).toISOString())}</span>
      </figcaption>
      <svg
        viewBox={`0 0 ${WIDTH} ${lanes.length * (HEIGHT + GAP)}`}
        preserveAspectRatio="none"
        className="h-11 w-full"
        role="img"
        aria-label={`Messages over time: ${lanes.map(({ name, spoke }) => `${visible(name)} ${spoke.length}`).join(', ')}`}
      >
        {lanes.map(({ id, hue, spoke }, i) => (
          <g key={id} data-hue={hue}>
            <rect y={i * (HEIGHT + GAP)} width={WIDTH} height={HEIGHT} rx="1" className="fill-muted" />
            <path
              className={hue === undefined ? 'stroke-foreground' : 'stroke-team-solid'}
              strokeWidth="5"
              d={[...new Set(spoke.map(x))].map((at) => `M${at} ${i * (HEIGHT + GAP)}v${HEIGHT}`).join('')}
            />
          </g>
        ))}
      </svg>
    </figure>
  )
}

const span = (from: string, to: string) =>
  day(from) === day(to) ? `${clock(from)} – ${clock(to)} UTC` : `${day(from)}, ${clock(from)} – ${day(to)}, ${clock(to)} UTC`
