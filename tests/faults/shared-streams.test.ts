// A stream that a session's read-only link opened: what becomes of it when the link is taken back, or cannot be looked at.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { shortOf } from '../support/full.ts'
import { cookieOf, done, engines, room, soon, startParley, viaRest, type Parley } from '../support/parley.ts'

const PATHS = ['/api/sessions/ID/stream', '/sessions/ID/live?after=0&doc=0']
const ENDS_WITHIN_MS = 10_000 // the link is checked each second; a quiet stream sends its next comment only after 15

for (const [engine] of shortOf(engines.toReversed(), 1)) {
  describe(`on ${engine}`, () => {
    let parley: Parley
    beforeAll(async () => {
      parley = await startParley({ engine, env: { VIEWER_PASSWORD: 'the viewers password' } })
      // The database itself counts the looks at a link, and fails at the one that it is told to.
      for (const statement of [
        'create sequence looks',
        'create table failing (look int)',
        `create function looked() returns boolean language plpgsql volatile as $$ declare this bigint := nextval('looks'); begin
           if exists (select from failing where look = this) then raise exception 'the disk is gone'; end if;
           return true;
         end $$`,
        'alter table shares rename to links',
        'create view shares as select * from links where looked()',
      ])
        await parley.database.query(statement)
    }, 180_000)
    afterAll(() => parley?.close(), 180_000)

    const shared = async () => {
      const call = viaRest(parley)
      const { id, alex } = await room(call)
      const person = await cookieOf(parley, { name: 'Robin', role: 'person' })
      await parley.database.query('alter view shares rename to counted')
      await parley.database.query('alter table links rename to shares')
      const { url } = await done(call('share_session', { session_id: id }, { person }))
      await parley.database.query('alter table shares rename to links')
      await parley.database.query('alter view counted rename to shares')
      await parley.database.query('delete from failing')
      await parley.database.query('alter sequence looks restart')
      const cookie = `parley_shared_${id}=${(url as string).split('/').at(-1)}`
      const open = (path: string, more = {}) => parley.send(path.replace('ID', id), { headers: { cookie, ...more } })
      const takeBack = () => parley.database.query('delete from links where session_id = $1', [id])
      return { alex, open, takeBack }
    }
    const looks = async () => (await parley.database.query<{ n: number }>('select last_value::int as n from looks'))[0]!.n
    const nothingIsLeft = () =>
      soon('nothing is left of it', () => parley.services.streams.open === 0 && parley.services.waiters.size === 0)

    /** The rest of the stream; fails when it has not ended in time. */
    const endOf = async (response: Response): Promise<string> => {
      const said = await Promise.race([response.text(), Bun.sleep(ENDS_WITHIN_MS)])
      if (said === undefined) throw new Error(`it has not ended within ${ENDS_WITHIN_MS} ms`)
      return said
    }

    describe.each(shortOf(PATHS, 1))('%s', (path) => {
      test('ends soon after its link, though nothing is said in the session', async () => {
        const { open, takeBack } = await shared()
        const response = await open(path)
        expect(response.status).toBe(200)
        expect(parley.services.streams.open).toBe(1)
        await takeBack()
        await endOf(response)
        await nothingIsLeft()
      })

      test.each(shortOf([2, 3], 1))('leaves nothing behind when look %d at its link fails', async (look) => {
        const { alex, open } = await shared()
        await parley.database.query('insert into failing values ($1)', [look])
        const response = await open(path)
        if (look === 3) await Bun.sleep(1_100)
        await done(alex('post_message', { content: 'something to tell' }))
        await endOf(response)
        expect(await looks()).toBe(look)
        await nothingIsLeft()
      })

      test('is looked at while it is open, and not once its reader has gone', async () => {
        const { open } = await shared()
        const response = await open(path)
        await soon('it was looked at again', async () => (await looks()) >= 2)
        await response.body!.cancel()
        await nothingIsLeft()
        const before = await looks()
        await Bun.sleep(1_300)
        expect(await looks()).toBe(before)
      })

      test('ends with the session like any other, and is not looked at after that', async () => {
        const { alex, open } = await shared()
        const response = await open(path)
        await done(alex('conclude_session', { summary_section: 'end' }))
        expect(await endOf(response)).toContain('event: closed')
        await nothingIsLeft()
        const before = await looks()
        await Bun.sleep(1_300)
        expect(await looks()).toBe(before)
      })
    })

    test.each(shortOf(PATHS, 1))(
      '%s ends with the team that leaves, and with the key that a person signed in by',
      async (path) => {
        const call = viaRest(parley)
        const { id, bea } = await room(call)
        const cookie = await cookieOf(parley, { name: 'Robin', role: 'person' })
        const open = (headers: Record<string, string>) => parley.send(path.replace('ID', id), { headers })
        const [ofTeam, ofPerson] = [await open({ 'x-team-id': bea.token }), await open({ cookie })]
        expect([ofTeam.status, ofPerson.status]).toEqual([200, 200])
        const ends = Promise.all([ofTeam.text(), ofPerson.text()])
        await done(bea('leave_session'))
        await parley.services.changeSetting('operator_key_hash', crypto.randomUUID())
        expect(await Promise.race([ends, Bun.sleep(60_000)])).toBeArray()
        await nothingIsLeft()
      },
      180_000,
    )

    test('a team that has the link too keeps its stream when the link is taken back', async () => {
      const { alex, open, takeBack } = await shared()
      const response = await open(PATHS[0]!, { 'x-team-id': alex.token })
      await takeBack()
      await Bun.sleep(1_300)
      await done(alex('post_message', { content: 'for those who take part' }))
      const reader = response.body!.getReader()
      for (let said = ''; !said.includes('for those who take part');) {
        const { value, done: over } = await reader.read()
        expect(over).toBe(false)
        said += Buffer.from(value ?? []).toString()
      }
      await reader.cancel()
      await nothingIsLeft()
    })
  })
}
