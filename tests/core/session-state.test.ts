import { expect, test } from 'bun:test'
import { readConfig } from '../../src/config.ts'
import { Clock } from '../../src/core/clock.ts'
import { Presence } from '../../src/core/presence.ts'
import { castOf } from '../../src/doors/pages/feed.tsx'
import { lanesOf, stateOf } from '../../src/doors/pages/state.ts'

const NOW = Date.parse('2026-11-22T12:00:00.000Z')
const minutesAgo = (minutes: number) => new Date(NOW - minutes * 60_000).toISOString()

const servicesOf = (environment: Record<string, string> = {}) => {
  const clock = new Clock()
  clock.set(NOW)
  return { clock, presence: new Presence(clock), config: readConfig(environment) } as unknown as Parameters<typeof stateOf>[0]
}
const watched = (more: object = {}) =>
  ({
    session: {
      id: 's',
      title: 'T',
      description: '',
      status: 'active',
      createdAt: minutesAgo(90),
      lastEventAt: minutesAgo(6),
      expectedTeams: 2,
      convenerTeamId: 'a',
      ...more,
    },
    version: 0,
    writtenBy: null,
    writtenByTeamId: null,
    writtenAt: null,
  }) as unknown as Parameters<typeof stateOf>[1]
const team = (teamId: string, seenMinutesAgo: number) =>
  ({
    sessionId: 's',
    teamId,
    teamName: `Team ${teamId}`,
    tokenHash: '',
    hue: 1,
    joinedAt: minutesAgo(90),
    leftAt: null,
    lastSeenAt: minutesAgo(seenMinutesAgo),
    pollingUntil: null,
    lastSeenCursor: 0,
    deliveredCursor: 0,
    addressedCursor: 0,
    acknowledgedCursor: 0,
  }) as Parameters<typeof stateOf>[2][number]

test('a session has gone idle when nothing was said for as long as agents wait, and nobody is there', () => {
  const quietFor = (more: object, seen: number, environment = {}) =>
    stateOf(servicesOf(environment), watched(more), [team('a', seen), team('b', 40)]).quietFor
  expect(quietFor({}, 6)).toBe('6m')
  expect(quietFor({ lastEventAt: minutesAgo(4) }, 6)).toBeUndefined() // said lately
  expect(quietFor({}, 0.1)).toBeUndefined() // one still listens
  expect(quietFor({}, 6, { IDLE_LIMIT: '20' })).toBeUndefined() // agents wait longer here
  expect(quietFor({ status: 'closed' }, 6)).toBeUndefined()
  expect(quietFor({ lastEventAt: null }, 40)).toBe('1h') // since it was made
})

test('the teams stand in order: the convener, then who is here', () => {
  const { teams } = stateOf(servicesOf(), watched(), [team('c', 40), team('b', 0.1), team('a', 40), team('d', 0.5)])
  expect(teams.map(({ id, status, convener, seen }) => `${id} ${status} ${convener} ${seen}`)).toEqual([
    'a disconnected true 40m',
    'b active false 6s',
    'd idle false 30s',
    'c disconnected false 40m',
  ])
})

test('neighbouring ticks of a lane are one, and the busiest lane comes first', () => {
  const said = (team_id: string, slot: number, messages: number) => ({
    team_id,
    name: null,
    slot,
    messages,
    from: minutesAgo(9),
    to: minutesAgo(1),
  })
  const cast = castOf([team('a', 1), team('b', 1)])
  const lanes = lanesOf([said('a', 0, 1), said('b', 0, 1), said('b', 1, 4), said('b', 2, 1), said('a', 9, 1)], cast)
  expect(lanes.map(({ name, messages, spoke }) => [name, messages, spoke])).toEqual([
    ['Team b', 6, [[0, 3]]],
    [
      'Team a',
      2,
      [
        [0, 1],
        [9, 1],
      ],
    ],
  ])
  expect(lanesOf([said('a', 0, 1)], cast)).toEqual([])
})

test('a team that is away stands at the last message it was handed, one that polls has them all; both with what they acknowledged', () => {
  const services = servicesOf()
  const polling = { ...team('a', 0), acknowledgedCursor: 7 }
  const away = { ...team('b', 40), deliveredCursor: 3, acknowledgedCursor: 2 }
  const abreast = { ...team('c', 40), deliveredCursor: 10 }
  services.presence.poll('s', 'a', 30_000)
  const { teams } = stateOf(services, watched({ lastConversationSequence: 10 }), [polling, away, abreast])
  expect(teams.map(({ id, delivered, acknowledged }) => [id, delivered, acknowledged])).toEqual([
    ['a', undefined, 7],
    ['b', 3, 2],
    ['c', undefined, 0],
  ])
})
