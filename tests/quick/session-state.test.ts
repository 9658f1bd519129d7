import { expect, test } from 'bun:test'
import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { Lanes } from '../../components/session/lanes.tsx'
import { Listening, Roster } from '../../components/session/roster.tsx'
import { WakesStrip } from '../../components/session/warning-strip.tsx'
import type { RosterTeam, SessionState } from '../../components/session/session-view.ts'
import { readConfig } from '../../src/config.ts'
import { Clock } from '../../src/core/runtime/clock.ts'
import { Presence } from '../../src/core/presence.ts'
import { teamLookup } from '../../src/pages/session/team-lookup.ts'
import { activityLanes } from '../../src/pages/session/lanes.ts'
import { sessionStateOf } from '../../src/pages/session/state.ts'
import { loopSettingsOf } from '../../src/loops/guard.ts'
import type { RecentEvent } from '../../src/stores/live-state.ts'

const NOW = Date.parse('2026-11-22T12:00:00.000Z')
const minutesAgo = (minutes: number) => new Date(NOW - minutes * 60_000).toISOString()

const servicesOf = (environment: Record<string, string> = {}, saved?: object) => {
  const clock = new Clock()
  clock.set(NOW)
  const config = readConfig(environment)
  const settings = loopSettingsOf(config)(saved && JSON.stringify(saved))
  return {
    clock,
    presence: new Presence(clock),
    config,
    loops: { settings: () => settings },
    wakes: { perHour: () => config.WAKES_PER_HOUR },
  } as unknown as Parameters<typeof sessionStateOf>[0]
}
const watched = (more: object = {}, said: RecentEvent[] = []) =>
  ({
    session: {
      id: 's',
      title: 'T',
      description: '',
      status: 'active',
      archivedAt: null,
      createdAt: minutesAgo(90),
      lastEventAt: minutesAgo(6),
      expectedTeams: 2,
      convenerTeamId: 'a',
      lastConversationSequence: said[0]?.[0] ?? 0,
      ...more,
    },
    version: 0,
    writtenBy: null,
    writtenByTeamId: null,
    writtenAt: null,
    recent: said,
  }) as unknown as Parameters<typeof sessionStateOf>[1]
const team = (teamId: string, seenMinutesAgo: number) =>
  ({
    sessionId: 's',
    teamId,
    teamName: `Team ${teamId}`,
    tokenHash: '',
    hue: 1,
    joinedAt: minutesAgo(90),
    leftAt: null,
    agent: null,
    lastSeenAt: minutesAgo(seenMinutesAgo),
    pollingUntil: null,
    lastSeenCursor: 0,
    deliveredCursor: 0,
    addressedCursor: 0,
    sleptAt: null,
    sleepingUntil: null,
    wokenCursor: 0,
    acknowledgedCursor: 0,
  }) as Parameters<typeof sessionStateOf>[2][number]

test('a session has gone idle when nothing was said for as long as agents wait, and nobody is there', () => {
  const quietFor = (more: object, seen: number, environment = {}) =>
    sessionStateOf(servicesOf(environment), watched(more), [team('a', seen), team('b', 40)]).quietFor
  expect(quietFor({}, 6)).toBe('6m')
  expect(quietFor({ lastEventAt: minutesAgo(4) }, 6)).toBeUndefined() // said lately
  expect(quietFor({}, 0.1)).toBeUndefined() // one still listens
  expect(quietFor({}, 6, { IDLE_LIMIT: '20' })).toBeUndefined() // agents wait longer here
  expect(quietFor({ status: 'closed' }, 6)).toBeUndefined()
  expect(quietFor({ lastEventAt: null }, 40)).toBe('1h') // since it was made
})

test('the teams stand in order: the convener, then who is here', () => {
  const { teams } = sessionStateOf(servicesOf(), watched(), [team('c', 40), team('b', 0.1), team('a', 40), team('d', 0.5)])
  expect(teams.map(({ id, status, convener, seen }) => `${id} ${status} ${convener} ${seen}`)).toEqual([
    'a disconnected true 40m ago',
    'b active false 6s ago',
    'd idle false 30s ago',
    'c disconnected false 40m ago',
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
  const cast = teamLookup([team('a', 1), team('b', 1)])
  const lanes = activityLanes([said('a', 0, 1), said('b', 0, 1), said('b', 1, 4), said('b', 2, 1), said('a', 9, 1)], cast)
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
  const shown = renderToStaticMarkup(createElement(Lanes, { lanes, teams: [{ id: 'a' }, { id: 'b' }] }))
  expect(shown.match(/<title>[^<]*/g)).toEqual(['<title>Team a', '<title>Team b']) // shown in the roster's order
  expect(shown).toContain('>TA</div>')
  expect(activityLanes([said('a', 0, 1)], cast)).toEqual([])
})

test('the busiest eight have lanes of their own, and all others share one that names them', () => {
  const spoke = (teams: number) =>
    Array.from({ length: teams }, (_, n) => ({
      team_id: null,
      name: `Team ${n}`,
      slot: n,
      messages: 30 - n,
      from: minutesAgo(40 - n),
      to: minutesAgo(20 - n),
    }))
  const lanes = activityLanes(spoke(19), teamLookup([]))
  expect(lanes.slice(0, 8).map(({ name }) => name)).toEqual(Array.from({ length: 8 }, (_, n) => `Team ${n}`))
  expect(lanes.slice(8)).toEqual([
    {
      id: 'others',
      name: '11 more',
      hue: undefined,
      others: Array.from({ length: 11 }, (_, n) => `Team ${n + 8}`),
      messages: 187,
      spoke: [[8, 11]],
      from: minutesAgo(32),
      to: minutesAgo(2),
    },
  ])
  const shown = renderToStaticMarkup(createElement(Lanes, { lanes, teams: [] }))
  expect(shown).toContain('+11 more in the last line')
  expect(shown).toContain('<title>Team 7</title>')
  expect(shown).toContain('<title>Team 8, Team 9, ')
  expect(activityLanes(spoke(9), teamLookup([])).map(({ name }) => name)).toEqual(Array.from({ length: 9 }, (_, n) => `Team ${n}`)) // "1 more" has a name
})

const message = (sequence: number, teamId: string | null, atMs = NOW - 60 * 60_000): RecentEvent => [
  sequence,
  teamId,
  teamId !== null,
  new Date(atMs).toISOString(),
]
const newestFirst = (length: number, teamId: string): RecentEvent[] => Array.from({ length }, (_, n) => message(length - n, teamId))

test('a team that is away has so much unread of what others said, one that listens nothing; both with what they acknowledged', () => {
  const services = servicesOf()
  const polling = { ...team('a', 0), acknowledgedCursor: 7 }
  const away = { ...team('b', 40), deliveredCursor: 3, acknowledgedCursor: 2 }
  const abreast = { ...team('c', 40), deliveredCursor: 10 }
  const left = { ...team('d', 40), leftAt: minutesAgo(30) }
  const said = [message(10, 'b'), message(9, null), message(7, 'a'), message(4, 'c'), message(3, 'a'), message(1, 'a')]
  services.presence.poll('s', 'a', 30_000)
  const unread = (status: string, talk = said) =>
    sessionStateOf(services, watched({ status }, talk), [polling, away, abreast, left]).teams.map(({ id, unread }) => [id, unread])
  expect(unread('active')).toEqual([
    ['a', undefined],
    ['b', { count: 3, more: false }], // not its own
    ['c', { count: 0, more: false }],
    ['d', undefined],
  ])
  expect(unread('closed').map(([, count]) => count)).toEqual([undefined, undefined, undefined, undefined])
  expect(unread('active', newestFirst(99, 'c')).slice(1, 3)).toEqual([
    ['b', { count: 96, more: false }],
    ['c', { count: 0, more: false }],
  ])
  const beyond = newestFirst(120, 'a').slice(0, 99)
  expect(unread('active', beyond)[1]).toEqual(['b', { count: 99, more: true }])
  const behindTrace = unread('active', [message(5_000, 'a')])[1] // no more than 2,000 rows are looked through
  expect(behindTrace).toEqual(['b', { count: 1, more: true }])
  const { teams } = sessionStateOf(services, watched({}, said), [polling, away])
  expect(teams.map(({ acknowledged }) => acknowledged)).toEqual([7, 2])
  expect(shownOf(teams)).toContain('3 unread')
  expect(shownOf(sessionStateOf(services, watched({}, said), [abreast]).teams)).toContain('read all')
})

test('only who polls at this moment listens: a team that was seen a second ago may be at work', () => {
  const services = servicesOf()
  services.presence.poll('s', 'a', 30_000)
  services.presence.poll('s', 'b', 30_000).end()
  const { teams } = sessionStateOf(services, watched(), [team('a', 40), team('b', 40), team('c', 0.01)])
  expect(teams.map(({ id, status, polling }) => [id, status, polling])).toEqual([
    ['a', 'active', true],
    ['b', 'active', false],
    ['c', 'active', false],
  ])
  const listening = renderToStaticMarkup(
    createElement(Listening, { teams, concluded: false, archived: false, quietFor: undefined, wakes: undefined }),
  )
  expect(listening).toContain('1 team is listening')
})

test('a team that spoke after its last poll is shown with the age of that, and as not listening', () => {
  const ages = (...said: RecentEvent[]) => {
    const { teams } = sessionStateOf(servicesOf(), watched({}, said), [
      team('a', 6),
      team('b', 40),
      { ...team('c', 40), leftAt: minutesAgo(9) },
    ])
    return teams.map(({ status, seen, spoke }) => `${status} ${spoke ? 'spoke ' : ''}${seen}`)
  }
  expect(ages()).toEqual(['disconnected 6m ago', 'disconnected 40m ago', 'disconnected 9m ago'])
  expect(ages(message(4, 'a', NOW - 3_000), message(3, 'b', NOW - 25_000), message(2, 'b', NOW - 90_000))).toEqual([
    'disconnected spoke just now',
    'disconnected spoke 20s ago',
    'disconnected 9m ago',
  ])
  expect(ages(message(3, 'a', NOW - 8 * 60_000), message(2, 'c', NOW - 60_000))[0]).toBe('disconnected 6m ago') // it has polled since
  const { teams } = sessionStateOf(servicesOf(), watched({}, [message(4, 'a', NOW - 25_000)]), [team('a', 6)])
  expect(shownOf(teams)).toContain('spoke 20s ago<span class="sr-only">, not listening</span>')
})

test('a team that is asleep is shown so, with its dot and its unread; it does not listen, and a session whose teams all sleep is quiet', () => {
  const services = servicesOf()
  const said = [message(2, 'b'), message(1, 'b')]
  services.presence.sleep('s', 'a', 30_000)
  const { teams, quietFor } = sessionStateOf(services, watched({}, said), [team('a', 40), team('b', 40)])
  expect(teams.map(({ id, status, polling }) => [id, status, polling])).toEqual([
    ['a', 'asleep', false],
    ['b', 'disconnected', false],
  ])
  expect(quietFor).toBe('6m')
  const roster = shownOf(teams)
  for (const part of ['Asleep, a message wakes it', 'title="Team a: awake 40m ago; a message wakes it"', '>asleep<', '>2 unread<'])
    expect(roster).toContain(part)
  const bar = (more: object) =>
    renderToStaticMarkup(
      createElement(Listening, { teams, concluded: false, archived: false, quietFor: undefined, wakes: undefined, ...more }),
    )
  expect(bar({})).toContain('No team is listening right now · 1 asleep: a message wakes it')
  expect(bar({ wakes: { perHour: 30, since: minutesAgo(5) } })).toContain('· 1 asleep<')
  expect(bar({ quietFor })).toContain('Idle for 6m, not concluded · 1 asleep: a message wakes it')
  expect(bar({ concluded: true })).not.toContain('asleep')
  const withStatus = (status: RosterTeam['status'], left = false) => ({ ...teams[0]!, status, left })
  const deaf = 'No team is listening right now · a message wakes none<'
  expect(bar({ teams: [withStatus('idle'), withStatus('disconnected')] })).toContain(deaf)
  expect(bar({ teams: [withStatus('active'), withStatus('idle')] })).not.toContain('wakes none')
  expect(bar({ teams: [withStatus('idle', true)] })).not.toContain('wakes none')
  const few = shownOf(teams, { perHour: 30, since: minutesAgo(5) })
  for (const part of ['Asleep, only a message to it or from a person wakes it', '; only a message to it or from a person wakes it"'])
    expect(few).toContain(part)
  services.presence.poll('s', 'b', 30_000)
  const both = sessionStateOf(services, watched({}, said), [team('a', 40), team('b', 40)]).teams
  expect(bar({ teams: both })).toMatch(/1 team is.*listening.*1 asleep: a message wakes it/)
})

test('a session says that messages wake nobody: used up it needs a person, and where there are none it says so while a team sleeps', () => {
  const strip = (environment: Record<string, string>, wakesSince: string | null, sleeps = true) => {
    const services = servicesOf(environment)
    if (sleeps) services.presence.sleep('s', 'a', 30_000)
    const state = sessionStateOf(services, { ...watched(), wakesSince }, [team('a', 40), team('b', 40)])
    return renderToStaticMarkup(createElement(WakesStrip, state))
  }
  const since = minutesAgo(10)
  const used = strip({}, since)
  expect(used).toContain('Since 11:50 UTC messages have woken sleeping teams 30 times')
  expect(used).toContain('Until 12:50 UTC only what is addressed to a team wakes it.')
  expect(used).toContain('href="/sessions/s/release"')
  expect(strip({}, null)).toContain('hidden=""')
  const none = strip({ WAKES_PER_HOUR: '0' }, null)
  expect(none).toContain('Messages do not wake a team that is asleep')
  expect(none).not.toContain('release')
  expect(strip({ WAKES_PER_HOUR: '0' }, null, false)).toContain('hidden=""')
})

const shownOf = (teams: RosterTeam[], wakes?: SessionState['wakes']) =>
  renderToStaticMarkup(createElement(Roster, { id: '', teams, waitingFor: 0, wakes }))

test('those who repeat themselves are those of as many posts as make a loop here', () => {
  const said = [...newestFirst(10, 'b').map(([n, ...rest]): RecentEvent => [n + 10, ...rest]), ...newestFirst(10, 'a')]
  const teams = [team('a', 1), team('b', 1)]
  const repeating = (saved?: object) => {
    const suspected = { ...watched({}, said), loopSince: minutesAgo(1) }
    return sessionStateOf(servicesOf({}, saved), suspected, teams).loop?.teams
  }
  expect(repeating()).toEqual(['Team a', 'Team b'])
  expect(repeating({ mode: 'warn', posts: 8, likeness: 0.9 })).toEqual(['Team b'])
})
