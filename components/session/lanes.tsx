import { escapeInvisible } from '../../src/core/text/escape-invisible.ts'
import { cn } from '../parts/cn.ts'
import { initials, type Team } from '../parts/team.tsx'
import { clock, day } from '../parts/time.ts'

export interface Lane extends Team {
  id: string
  messages: number
  /** The stretches of time in which the author spoke: the first slot of each, and its length in slots. */
  spoke: [slot: number, slots: number][]
  /** The first and the last message. */
  from: string
  to: string
  /** The names of the authors who share the lane. */
  others?: string[]
}

/** A lane's length in slots. */
export const SLOTS = 200
const SLOT = 5
const HEIGHT = 8 // with GAP as many pixels as a line of the initials beside the lanes
const GAP = 3

/** Who spoke when: a lane for each team, in the roster's order, then for each person, with a bar for each stretch of messages. */
export const Lanes = ({ lanes: unordered, teams }: { lanes: Lane[]; teams: { id: string }[] }) => {
  const lanes = unordered.toSorted((a, b) => placeOf(a, teams) - placeOf(b, teams))
  return (
    <figure id="lanes" className={cn('shrink-0 border-b px-4 py-2.5 max-lg:hidden', lanes.length === 0 && 'hidden')}>
      {lanes.length > 0 && (
        <>
          <figcaption className="mb-1.5 flex justify-between text-[11px] text-muted-foreground">
            <span>
              Who spoke when
              {lanes.at(-1)!.others && ` · +${lanes.at(-1)!.name} in the last line`}
            </span>
            <span className="tabular-nums">{span(lanes)}</span>
          </figcaption>
          <div className="flex gap-1.5">
            <div aria-hidden="true" className="w-4 text-[8px] leading-[11px] font-semibold">
              {lanes.map((lane) => (
                <div key={lane.id} data-hue={lane.hue} className={lane.hue === undefined ? undefined : 'text-team'}>
                  {lane.others ? '+' : initials(lane.name) || '?'}
                </div>
              ))}
            </div>
            <svg
              viewBox={`0 0 ${SLOTS * SLOT} ${lanes.length * (HEIGHT + GAP)}`}
              height={lanes.length * (HEIGHT + GAP)}
              preserveAspectRatio="none"
              className="min-w-0 flex-1"
              role="img"
              aria-label={`Messages over time: ${lanes.map(({ name, messages }) => `${escapeInvisible(name)} ${messages}`).join(', ')}`}
            >
              {lanes.map((lane, i) => (
                <g key={lane.id} data-hue={lane.hue}>
                  <title>{(lane.others ?? [lane.name]).map((name) => escapeInvisible(name)).join(', ')}</title>
                  <rect y={i * (HEIGHT + GAP)} width={SLOTS * SLOT} height={HEIGHT} rx="1" className="fill-muted" />
                  <path
                    className={lane.others ? 'stroke-muted-foreground' : lane.hue === undefined ? 'stroke-foreground' : 'stroke-team-solid'}
                    strokeWidth={HEIGHT}
                    d={lane.spoke.map(([slot, slots]) => `M${slot * SLOT} ${i * (HEIGHT + GAP) + HEIGHT / 2}h${slots * SLOT}`).join('')}
                  />
                </g>
              ))}
            </svg>
          </div>
        </>
      )}
    </figure>
  )
}

const placeOf = ({ id, others }: Lane, teams: { id: string }[]): number => {
  const place = teams.findIndex((team) => team.id === id)
  return others ? Infinity : place < 0 ? teams.length : place
}

const span = (lanes: Lane[]) => {
  const from = lanes.map((lane) => lane.from).toSorted()[0]!
  const to = lanes
    .map((lane) => lane.to)
    .toSorted()
    .at(-1)!
  return day(from) === day(to) ? `${clock(from)} – ${clock(to)} UTC` : `${day(from)}, ${clock(from)} – ${day(to)}, ${clock(to)} UTC`
}
