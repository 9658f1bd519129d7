// Who spoke when, as lanes: one for each author, with the stretches of time in which that author spoke.
import { SLOTS, type Lane } from '../../../components/session/lanes.tsx'
import type { AuthorActivity } from '../../stores/live-state.ts'
import type { TeamLookup } from './team-lookup.ts'

const LANES = 8

export const messageCount = (talk: AuthorActivity[]): number => talk.reduce((sum, { messages }) => sum + messages, 0)

/** One lane for each author who spoke, the busiest first; the ninth and all later authors share one. A single message has no lane. */
export const activityLanes = (talk: AuthorActivity[], teams: TeamLookup): Lane[] => {
  if (messageCount(talk) < 2) return []
  const byAuthor = [...Map.groupBy(talk, ({ team_id, name }) => team_id ?? name ?? '')]
  const busiest = byAuthor.toSorted(([, a], [, b]) => messageCount(b) - messageCount(a))
  const ownLanes = busiest.length === LANES + 1 ? LANES + 1 : LANES // a lane shared by one author would take as much room
  const nameOf = ({ team_id, name }: AuthorActivity) => teams.team(team_id) ?? { name: name ?? 'Somebody', hue: undefined }
  const lanes = busiest.slice(0, ownLanes).map(([id, own]) => ({ ...nameOf(own[0]!), id, ...activityOf(own) }))
  const others = busiest.slice(ownLanes)
  if (others.length === 0) return lanes
  const names = others.map(([, own]) => nameOf(own[0]!).name)
  const activity = activityOf(others.flatMap(([, own]) => own))
  return [...lanes, { id: 'others', name: `${names.length} more`, hue: undefined, others: names, ...activity }]
}

const activityOf = (talk: AuthorActivity[]): Pick<Lane, 'messages' | 'spoke' | 'from' | 'to'> => {
  const inSlots = new Set(talk.map(({ slot }) => slot))
  const spoke: Lane['spoke'] = []
  for (let slot = 0; slot < SLOTS; slot++) {
    if (!inSlots.has(slot)) continue
    if (inSlots.has(slot - 1)) spoke.at(-1)![1]++
    else spoke.push([slot, 1])
  }
  const from = talk.map((row) => row.from).toSorted()[0]!
  const to = talk
    .map((row) => row.to)
    .toSorted()
    .at(-1)!
  return { messages: messageCount(talk), spoke, from, to }
}
