// Eight teams that each post only what they have thought over: no post of another lies between the cursor that a post expects and itself,
// whichever instance writes it, and every team gets through.
//   FULL=1 bun test tests/faults/crossing.test.ts    200 posts each at an agent's pace (nine minutes)
import { describe, expect, test } from 'bun:test'
import { done, feedOf, room, seat, startParley, viaRest, type Parley, type Seat } from '../support/parley.ts'
import { FULL } from '../support/full.ts'
import { HERE } from './engines.ts'

const TEAMS = 8
const PACED = FULL ? { posts: 200, pauseMs: 1_000 } : { posts: 8, pauseMs: 500 }
const HURRIED = { posts: FULL ? 40 : 10, pauseMs: 0 }
const MAY_TAKE_MS = FULL ? 900_000 : 180_000

interface Written {
  by: string
  expected: number
  cursor: number
  tries: number
  unknown: number // tries that may be written: a machine that is busy with other tests may not answer in time
}

const waitForMs = ([from, to]: [number, number]) => Bun.sleep(from + Math.random() * (to - from))

/** Posts until it is written, each time with the cursor up to which the team was last told what others said. */
const post = async (at: () => Seat, from: number, retryMs: [number, number]): Promise<Written> => {
  let [expected, unknown] = [from, 0]
  for (let tries = 1; ; tries++) {
    const who = at()
    const { ok, body } = await who('post_message', { content: `${tries}`, expected_cursor: expected })
    if (ok) return { by: who.handle, expected, cursor: body.cursor, tries, unknown }
    if (body.code === 'unavailable') {
      unknown++
      await waitForMs(retryMs)
      continue
    }
    expect(body.code, JSON.stringify(body)).toBe('unread')
    expect(body.details.unread).toBeGreaterThan(0)
    expect(body.details.next_cursor).toBeGreaterThan(expected)
    expected = body.details.next_cursor
    await waitForMs(retryMs)
  }
}

const allTeams = async (parleys: Parley[], pace: { posts: number; pauseMs: number }, retryMs: [number, number]) => {
  const { id, alex, bea } = await room(viaRest(parleys[0]!))
  const more = Array.from({ length: TEAMS - 2 }, (_, n) =>
    done(viaRest(parleys[0]!)('join_session', { session_id: id, team_name: `Team ${n}` })),
  )
  const seats = [alex, bea, ...(await Promise.all(more)).map((joined) => seat(viaRest(parleys[0]!), joined))]
  const end = TEAMS - 1 // of the joins
  const written = await Promise.all(
    seats.map(async ({ token, handle }, n) => {
      const here = parleys.map((parley) => seat(viaRest(parley), { session_id: id, team_id: token, handle }))
      const own: Written[] = []
      for (let i = 0; i < pace.posts; i++) {
        own.push(await post(() => here[(n + i) % here.length]!, own.at(-1)?.cursor ?? end, retryMs))
        await Bun.sleep(pace.pauseMs * (0.9 + Math.random() * 0.2))
      }
      return own
    }),
  )
  return { feed: await feedOf(alex), written: written.flat() }
}

const isBetween = (feed: any[], { by, expected, cursor }: Written) =>
  feed.some((event) => event.type === 'chat' && event.sequence > expected && event.sequence < cursor && event.posted_by_team_id !== by)

const expectNoneCrossed = ({ feed, written }: Awaited<ReturnType<typeof allTeams>>, posts: number) => {
  const unknown = written.reduce((sum, post) => sum + post.unknown, 0)
  expect(written).toHaveLength(TEAMS * posts)
  expect(feed.filter(({ type }) => type === 'chat').length - TEAMS * posts).toBeWithin(0, unknown + 1)
  expect(written.filter((post) => isBetween(feed, post))).toEqual([])
}

describe.each(HERE)('on %s', (engine) => {
  const together = async (run: (parleys: Parley[]) => Promise<void>) => {
    const parley = await startParley({ engine })
    try {
      await run(engine === 'postgres' ? [parley, (await parley.beside({})) as Parley] : [parley])
    } finally {
      await parley.close()
    }
  }

  test(
    `eight teams that retry at once never cross${engine === 'postgres' ? ', each at two instances in turn' : ''}`,
    async () => {
      await together(async (parleys) => expectNoneCrossed(await allTeams(parleys, HURRIED, [0, 5]), HURRIED.posts))
    },
    MAY_TAKE_MS,
  )

  test.skipIf(!FULL)(
    'at an agent’s pace every team gets through',
    async () => {
      await together(async (parleys) => {
        const all = await allTeams(parleys, PACED, [50, 150])
        expectNoneCrossed(all, PACED.posts)
        const tries = all.written.map((post) => post.tries).toSorted((a, b) => a - b)
        const [p50, p99, most] = [0.5, 0.99, 1].map((share) => tries[Math.ceil(tries.length * share) - 1]!)
        console.log(`${engine}: tries p50 ${p50}, p99 ${p99}, at most ${most}`)
        expect(most).toBeLessThanOrEqual(200) // the busier the machine is with other tests, the more come in between
      })
    },
    MAY_TAKE_MS,
  )
})
