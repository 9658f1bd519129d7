import { describe, expect } from 'bun:test'
import { test } from '../support/foreign.ts'
import { cookieOf, done, feedOf, onOneEngine, refused, restRequest, room, throughBothDoors, viaRest } from '../support/parley.ts'

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => from + n)

throughBothDoors((call, parley) => {
  describe('the doc', () => {
    test('[A39 A40] it is empty at version 0 when a session begins', async () => {
      const { alex } = await room(call)
      expect(await done(alex('read_session_doc'))).toEqual({ content: '', version: 0 })
    })

    test('[A41 A42] an update with the version that was read makes the next one', async () => {
      const { alex, bea } = await room(call)
      expect((await done(alex('update_session_doc', { content: '# Parser\n', expected_version: 0 }))).version).toBe(1)
      expect((await done(bea('update_session_doc', { content: '# Parser 2\n', expected_version: 1 }))).version).toBe(2)
      expect(await done(alex('read_session_doc'))).toEqual({ content: '# Parser 2\n', version: 2 })
      expect((await done(alex('get_session'))).session_doc_version).toBe(2)
    })

    test('[A42 A84] an update with another version writes nothing and tells the current one', async () => {
      const { alex, bea } = await room(call)
      await done(alex('update_session_doc', { content: 'kept', expected_version: 0 }))
      for (const expected_version of [0, 2, 99]) {
        const error = await refused(bea('update_session_doc', { content: 'lost', expected_version }), 'version_conflict')
        expect(error.details.current_version).toBe(1)
      }
      expect(await done(alex('read_session_doc'))).toEqual({ content: 'kept', version: 1 })
    })

    test('of 20 updates at once with one version exactly one is written', async () => {
      const { alex, bea } = await room(call)
      const answers = await Promise.all(
        range(1, 20).map((n) => (n % 2 ? alex : bea)('update_session_doc', { content: `by ${n}`, expected_version: 0 })),
      )
      expect(answers.filter(({ ok }) => ok)).toHaveLength(1)
      for (const { ok, body } of answers) if (!ok) expect(body).toMatchObject({ code: 'version_conflict', details: { current_version: 1 } })
      expect((await done(alex('read_session_doc'))).content).toBe(`by ${answers.findIndex(({ ok }) => ok) + 1}`)
    })

    test('[A43] 50 appends at once are all there, on lines of their own, 50 versions on', async () => {
      const { alex, bea } = await room(call)
      const answers = await Promise.all(
        range(1, 50).map((n) => done((n % 2 ? alex : bea)('append_to_session_doc', { text: `- note ${n}` }))),
      )
      expect(answers.map(({ version }) => version).toSorted((a, b) => a - b)).toEqual(range(1, 50))
      const { content, version } = await done(alex('read_session_doc'))
      expect(version).toBe(50)
      expect(content.trimEnd().split('\n').toSorted()).toEqual(
        range(1, 50)
          .map((n) => `- note ${n}`)
          .toSorted(),
      )
    })

    test('writing the doc is no event', async () => {
      const { alex } = await room(call)
      await done(alex('append_to_session_doc', { text: 'note' }))
      await done(alex('update_session_doc', { content: 'all', expected_version: 1 }))
      expect(await feedOf(alex)).toHaveLength(1)
    })

    test('an older version can be read, and one that is not there yet is not_found', async () => {
      const { alex } = await room(call)
      await done(alex('append_to_session_doc', { text: 'one' }))
      await done(alex('append_to_session_doc', { text: 'two' }))
      expect(await done(alex('read_session_doc', { version: 1 }))).toEqual({ content: 'one', version: 1 })
      expect(await done(alex('read_session_doc', { version: 0 }))).toEqual({ content: '', version: 0 })
      expect((await done(alex('read_session_doc', { version: 2 }))).content).toMatch(/^one\ntwo\n?$/)
      await refused(alex('read_session_doc', { version: 3 }), 'not_found')
    })

    test('a section written under a higher heading stays one section, and is replaced whole the next time', async () => {
      const { alex } = await room(call)
      await done(alex('update_session_doc', { content: '# S\n\n## Goals\n\nold\n\n## Notes\n\nn\n', expected_version: 0 }))
      await done(alex('update_session_doc', { content: '# Aims\n\nnew\n\n## One\n\n1', section: 'Goals', expected_version: 1 }))
      expect((await done(alex('read_session_doc'))).content).toBe('# S\n\n## Aims\n\nnew\n\n### One\n\n1\n\n## Notes\n\nn\n')
      await done(alex('update_session_doc', { content: 'newer', section: 'Aims', expected_version: 2 }))
      expect((await done(alex('read_session_doc'))).content).toBe('# S\n\n## Aims\n\nnewer\n\n## Notes\n\nn\n')
    })

    test('an empty append and a missing expected_version are refused', async () => {
      const { alex } = await room(call)
      expect((await refused(alex('append_to_session_doc', { text: '' }), 'invalid_request')).details.field).toBe('text')
      expect((await refused(alex('update_session_doc', { content: 'x' }), 'invalid_request')).details.field).toBe('expected_version')
      await refused(alex('update_session_doc', { content: 'x', expected_version: -1 }), 'invalid_request')
    })

    test('[A50] every write leaves a history row with its author, conclusions and appends too', async () => {
      const { id, alex, bea } = await room(call)
      await done(alex('update_session_doc', { content: 'one', expected_version: 0 }))
      await done(bea('append_to_session_doc', { text: 'two' }))
      await done(alex('conclude_session', { summary_section: 'three' }))
      const rows = await parley().database.query(
        'select version, written_by_team_id as by, written_at as at from session_doc_history where session_id = $1 order by version',
        [id],
      )
      expect(rows).toMatchObject([
        { version: 1, by: alex.handle },
        { version: 2, by: bea.handle },
        { version: 3, by: alex.handle },
      ])
    })
  })
})

onOneEngine((parley) => {
  const history = async (id: string, team: string, query = '') => {
    const response = await parley().send(`/api/sessions/${id}/doc/history${query}`, { headers: { 'x-team-id': team } })
    return { status: response.status, body: (await response.json()) as any }
  }

  describe('the history of the doc', () => {
    test('versions come newest first, with author and bytes, in pages', async () => {
      const call = viaRest(parley())
      const { id, alex, bea } = await room(call)
      for (const n of range(1, 5))
        await done((n % 2 ? alex : bea)('update_session_doc', { content: 'é'.repeat(n), expected_version: n - 1 }))
      const first = (await history(id, bea.token, '?limit=2')).body
      expect(first.versions).toMatchObject([
        { version: 5, team: "Alex's Team", written_by_team_id: alex.handle, bytes: 10 },
        { version: 4, team: "Bea's Team", written_by_team_id: bea.handle, bytes: 8 },
      ])
      expect(first).toMatchObject({ has_more: true, next_cursor: 4 })
      const second = (await history(id, bea.token, `?limit=2&before_version=${first.next_cursor}`)).body
      const last = (await history(id, bea.token, `?limit=2&before_version=${second.next_cursor}`)).body
      expect([...second.versions, ...last.versions].map(({ version }: any) => version)).toEqual([3, 2, 1])
      expect(last).toMatchObject({ has_more: false, next_cursor: null })
    })

    test('a version beyond what any will be is none yet, and all versions are before it', async () => {
      const call = viaRest(parley())
      const { id, alex } = await room(call)
      await done(alex('append_to_session_doc', { text: 'a note' }))
      for (const version of [2 ** 31, Number.MAX_SAFE_INTEGER]) {
        await refused(alex('read_session_doc', { version }), 'not_found')
        expect((await history(id, alex.token, `?before_version=${version}`)).body.versions).toMatchObject([{ version: 1 }])
      }
    })

    test('a person who writes is named, without a team', async () => {
      const call = viaRest(parley())
      const { id, bea } = await room(call)
      const person = await cookieOf(parley(), { name: 'Robin', role: 'person' })
      await done(call('append_to_session_doc', { session_id: id, text: 'a note' }, { person }))
      expect((await history(id, bea.token)).body.versions).toMatchObject([{ version: 1, team: 'Robin', written_by_team_id: null }])
    })

    test('PUT writes the doc as POST does', async () => {
      const { id, alex } = await room(viaRest(parley()))
      const { path, sending } = restRequest(
        'update_session_doc',
        { session_id: id, content: 'put', expected_version: 0 },
        { team: alex.token },
      )
      const response = await parley().send(path, { ...sending, method: 'PUT' })
      expect(response.status).toBe(200)
      expect(await response.json()).toMatchObject({ version: 1 })
    })
  })
})
