// A session whose teams all sleep: 1,000 held peeks in one process, and a message that is for one of them or for all.
import { expect, test } from 'bun:test'
import { newSecret, sha256 } from '../../src/core/ids.ts'
import { cookieOf, done, onOneEngine, room, say, seat, soon, viaRest, type Parley } from '../support/parley.ts'

const SLEEPERS = 1_000
const PER_HOUR = 5

onOneEngine(
  (parley) => {
    /** As many more teams as may join a session. They get their rows at once: each joining reads the whole roster. */
    const joinedBy = async (served: Parley, id: string, count: number) => {
      const tokens = Array.from({ length: count }, () => ({ team_id: crypto.randomUUID(), secret: newSecret() }))
      await served.database.query(
        `insert into participants (session_id, team_id, token_hash, team_name, hue, last_seen_cursor, delivered_cursor)
         select $1, t.team_id, t.hash, 'Sleeper ' || t.team_id, 0, 1, 1 from json_to_recordset($2::json) as t(team_id uuid, hash text)`,
        [id, JSON.stringify(tokens.map(({ team_id, secret }) => ({ team_id, hash: sha256(secret) })))],
      )
      const call = viaRest(served)
      return tokens.map(({ team_id, secret }) => seat(call, { session_id: id, team_id: `${team_id}.${secret}`, handle: team_id }))
    }

    test('with its wakes used up it wakes the one that is addressed, and by a person’s word all of them, in a few statements', async () => {
      const { services } = parley()
      const { id, alex, bea } = await room(viaRest(parley()))
      const sleepers = [alex, bea, ...(await joinedBy(parley(), id, SLEEPERS - 2))]
      await parley().database.query('insert into wakes (session_id, taken) values ($1, $2)', [id, PER_HOUR])
      const woken: { at: number; answer: any }[] = []
      const watching = sleepers.map(async (who, at) => {
        woken.push({ at, answer: await done(who('peek', { timeout: 30, after: 1 })) })
      })
      await soon('all sleep', () => services.peeks.held === SLEEPERS, 60)

      const statements = services.database.statements()
      await say(alex, 'This wakes nobody.')
      await say(alex, 'You take the lexer.', { to: [sleepers[500]!.handle] })
      await soon('one is woken', () => woken.length === 1)
      const { cursor } = await say(alex, 'And this again wakes nobody.')
      await Bun.sleep(200)
      expect(woken).toEqual([{ at: 500, answer: { unread: 2, addressed: 1, last_cursor: cursor - 1, doc_version: 0, wake: true } }])
      expect(services.peeks.held).toBe(SLEEPERS - 1)
      expect(services.database.statements() - statements).toBeLessThan(200) // jobs in the background send some too; a statement for each sleeper would be a thousand

      const before = services.database.statements()
      const robin = await cookieOf(parley(), { name: 'Robin', role: 'person' })
      await done(viaRest(parley())('post_message', { session_id: id, content: 'Go on, all of you.' }, { person: robin }))
      await Promise.all(watching)
      expect(woken).toHaveLength(SLEEPERS)
      expect(woken.every(({ answer }) => answer.wake)).toBe(true)
      expect(services.peeks.held).toBe(0)
      expect(services.waiters.size).toBe(0)
      expect(services.database.statements() - before).toBeLessThan(200) // jobs in the background send some too; a statement for each sleeper would be a thousand
    }, 120_000)
  },
  { WAKES_PER_HOUR: String(PER_HOUR) },
)
