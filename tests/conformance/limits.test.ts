import { describe, expect } from 'bun:test'
import { test } from '../support/foreign.ts'
import { done, feedOf, onOneEngine, refused, room, throughBothDoors, viaRest } from '../support/parley.ts'

const KIB = 1024
const MIB = 1024 * KIB
const NUL = String.fromCharCode(0)

throughBothDoors((call) => {
  const create = (more: Record<string, unknown>) => call('create_session', { title: 'T', description: '', creator_team_name: 'A', ...more })

  describe('lengths', () => {
    test.each([
      ['title', 200],
      ['description', 10_000],
      ['creator_team_name', 100],
    ] as const)('%s holds %d characters and not one more, counted as people count them', async (field, most) => {
      for (const character of ['x', 'é', '🦜']) {
        await done(create({ [field]: character.repeat(most) }))
        const error = await refused(create({ [field]: character.repeat(most + 1) }), 'invalid_request')
        expect(error.details.field).toBe(field)
      }
    })

    test.each(['title', 'creator_team_name'])('%s must not be blank', async (field) => {
      for (const text of ['', ' ', '\n\t', '\u200b', ' \u3164\u200d'])
        expect((await refused(create({ [field]: text }), 'invalid_request')).message).toBe(`${field}: must not be blank`)
    })

    test('an empty description is one', async () => {
      expect((await done(create({ description: '' }))).description).toBe('')
    })

    test('a joining team’s name keeps to 100 characters too', async () => {
      const { id } = await room(call)
      await done(call('join_session', { session_id: id, team_name: 'n'.repeat(100) }))
      await refused(call('join_session', { session_id: id, team_name: 'n'.repeat(101) }), 'invalid_request')
    })

    test('a message holds 32 KiB in UTF-8 bytes', async () => {
      const { alex } = await room(call)
      for (const text of ['x'.repeat(32 * KIB), 'é'.repeat(16 * KIB), '🦜'.repeat(8 * KIB)]) {
        await done(alex('post_message', { content: { text } }))
        await refused(alex('post_message', { content: { text: `${text}x` } }), 'invalid_request')
        await refused(alex('post_message', { content: `${text}x` }), 'invalid_request')
      }
      expect(await feedOf(alex)).toHaveLength(4)
    })

    test('the doc holds 512 KiB in UTF-8 bytes, however it grows there', async () => {
      const { alex } = await room(call)
      await refused(alex('update_session_doc', { content: 'x'.repeat(512 * KIB + 1), expected_version: 0 }), 'invalid_request')
      await refused(alex('update_session_doc', { content: 'é'.repeat(256 * KIB + 1), expected_version: 0 }), 'invalid_request')
      await done(alex('update_session_doc', { content: 'é'.repeat(256 * KIB), expected_version: 0 }))
      await refused(alex('append_to_session_doc', { text: 'x' }), 'payload_too_large')
      expect((await done(alex('read_session_doc'))).version).toBe(1)
    })

    test('an append and a summary hold 64 KiB', async () => {
      const { alex } = await room(call)
      await done(alex('append_to_session_doc', { text: 'x'.repeat(64 * KIB) }))
      await refused(alex('append_to_session_doc', { text: 'x'.repeat(64 * KIB + 1) }), 'invalid_request')
      await refused(alex('conclude_session', { summary_section: 'é'.repeat(32 * KIB + 1) }), 'invalid_request')
      await done(alex('conclude_session', { summary_section: 'é'.repeat(32 * KIB) }))
    })

    test('a reason holds 2,000 characters', async () => {
      const { alex } = await room(call)
      await refused(alex('update_session_metadata', { title: 'New', reason: 'r'.repeat(2_001) }), 'invalid_request')
      await done(alex('update_session_metadata', { title: 'New', reason: '🦜'.repeat(2_000) }))
    })

    test('expected_teams is a whole number from 1 to 100', async () => {
      for (const expected_teams of [0, 101, 1.5, '2', true]) await refused(create({ expected_teams }), 'invalid_request')
      for (const expected_teams of [1, 100]) await done(create({ expected_teams }))
    })
  })

  describe('what no text may hold', () => {
    const writes = async () => {
      const { alex, bea } = await room(call)
      const each: [string, (text: string) => ReturnType<typeof alex>][] = [
        ['a message', (text) => alex('post_message', { content: { text } })],
        ['a bare message', (text) => alex('post_message', { content: text })],
        ['a doc', (content) => alex('update_session_doc', { content, expected_version: 0 })],
        ['an append', (text) => alex('append_to_session_doc', { text })],
        ['a title', (title) => alex('update_session_metadata', { title, reason: 'r' })],
        ['a description', (description) => alex('update_session_metadata', { description, reason: 'r' })],
        ['a reason', (reason) => alex('update_session_metadata', { title: 'New', reason })],
        ['a summary', (summary_section) => alex('conclude_session', { summary_section })],
        ['a new title', (title) => create({ title })],
        ['a new description', (description) => create({ description })],
        ["a convener's name", (creator_team_name) => create({ creator_team_name })],
      ]
      return { alex, bea, each }
    }

    test('U+0000 and half a surrogate pair are refused wherever they stand', async () => {
      const { alex, each } = await writes()
      for (const text of [`a${NUL}b`, 'a\ud83eb', '\udd9c']) {
        for (const [where, write] of each) {
          const answer = await write(text)
          expect(answer.body.code, where).toBe('invalid_request')
          expect(answer.body.details.field, where).toBeString()
        }
      }
      expect(await feedOf(alex)).toHaveLength(1)
    })

    test('a token or key is refused wherever it stands, and the answer does not repeat it', async () => {
      const { alex, bea, each } = await writes()
      const hex = '0123456789abcdef0123456789abcdef'
      const own = alex.token.split('.')[1]!
      const strangers = [bea.token, `${crypto.randomUUID()}.${'Ab_-'.repeat(8)}`, `ca_full_${hex}`, `ca_sess_${hex}`, `op_${own}`]
      for (const secret of strangers) {
        for (const [where, write] of each.slice(0, -1)) {
          const answer = await write(`see ${secret} here`)
          expect(answer.body.code, `${where}: ${secret}`).toBe('secret_in_text')
          expect(JSON.stringify(answer.body)).not.toContain(secret)
        }
      }
      for (const [where, write] of each.slice(0, 8)) expect((await write(`half: ${own}`)).body.code, where).toBe('secret_in_text')
      expect(await feedOf(alex)).toHaveLength(1)
      expect((await done(alex('read_session_doc'))).version).toBe(0)
    })

    test('a handle is public and may be written', async () => {
      const { alex, bea } = await room(call)
      await done(alex('post_message', { content: `ask ${bea.handle}` }))
    })

    test('everything else is stored as it came', async () => {
      const { alex } = await room(call)
      const text = '\u202eevil\u202c \u200b\ufeff e\u0301 \r\n\t <script>alert(1)</script> &amp; \\u0000 \u0007 🦜'
      await done(alex('post_message', { content: { text } }))
      await done(alex('update_session_doc', { content: text, expected_version: 0 }))
      expect((await feedOf(alex))[1].content.text).toBe(text)
      expect((await done(alex('read_session_doc'))).content).toBe(text)
    })

    test('names take no direction marks, tags or control characters', async () => {
      const { id } = await room(call)
      for (const mark of ['\u202e', '\u2066', '\u200f', '\u061c', '\u{e0041}', '\n', '\u0007', '\u2028']) {
        const name = `Al${mark}ex`
        const error = await refused(call('join_session', { session_id: id, team_name: name }), 'invalid_request')
        expect(error.details.field).toBe('team_name')
        await refused(create({ creator_team_name: name }), 'invalid_request')
      }
      for (const name of ['Ünïcode Team', '日本チーム', '🦜', 'Team O’Neill'])
        await done(call('join_session', { session_id: id, team_name: name }))
    })
  })
})

onOneEngine((parley) => {
  describe('bodies', () => {
    const post = (path: string, body: BodyInit, headers: Record<string, string> = {}) =>
      parley().send(path, { method: 'POST', body, headers })
    const chunked = (bytes: number) =>
      new ReadableStream<Uint8Array>({
        start(controller) {
          const chunk = new Uint8Array(64 * KIB).fill(32)
          for (let sent = 0; sent < bytes; sent += chunk.length) controller.enqueue(chunk)
          controller.close()
        },
      })
    const tooLarge = async (response: Response) => {
      expect(response.status).toBe(413)
      expect(await response.json()).toMatchObject({ error: { code: 'payload_too_large', details: { limit_bytes: expect.any(Number) } } })
    }

    test('a body over 1 MiB is 413, with and without a length', async () => {
      const { id, alex } = await room(viaRest(parley()))
      const headers = { 'x-team-id': alex.token }
      const path = `/api/sessions/${id}/messages`
      await tooLarge(await post(path, ' '.repeat(MIB + 1), headers))
      await tooLarge(await post(path, ' '.repeat(MIB + 1), { ...headers, 'content-length': String(MIB + 1) }))
      await tooLarge(await post(path, chunked(2 * MIB), headers))
      await tooLarge(await post('/api/sessions', ' '.repeat(MIB + 1)))
      expect((await post(path, `{"content":"x"}${' '.repeat(MIB - 15)}`, headers)).status).toBe(200)
    })

    test('doc writes and /mcp take 4 MiB', async () => {
      const { id, alex } = await room(viaRest(parley()))
      const headers = { 'x-team-id': alex.token }
      const doc = JSON.stringify({ content: 'x', expected_version: 0 })
      expect((await post(`/api/sessions/${id}/doc`, doc + ' '.repeat(4 * MIB - doc.length), headers)).status).toBe(200)
      await tooLarge(await post(`/api/sessions/${id}/doc`, ' '.repeat(4 * MIB + 1), headers))
      const ping = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })
      expect((await post('/mcp', ping + ' '.repeat(4 * MIB - ping.length))).status).toBe(200)
      await tooLarge(await post('/mcp', ' '.repeat(4 * MIB + 1)))
    })

    test.each([true, false])(
      'a body that is not UTF-8 is 400, and U+FFFD is a character like others (with its length: %p)',
      async (told) => {
        const { id, alex } = await room(viaRest(parley()))
        const send = async (...bytes: number[]) => {
          const length: Record<string, string> = told ? { 'content-length': String(bytes.length) } : {}
          const { status } = await post(`/api/sessions/${id}/messages`, new Uint8Array(bytes), { 'x-team-id': alex.token, ...length })
          return status
        }
        expect(await send(0x68, 0xff, 0xfe)).toBe(400)
        expect(await send(0x68, 0xe2, 0x82)).toBe(400)
        expect(await send(0xef, 0xbf, 0xbd, 0xff)).toBe(400)
        expect(await send(0xef, 0xbb, 0xbf, 0x68, 0xef, 0xbf, 0xbd)).toBe(200) // after a byte order mark
        expect(await send(0x68, 0xef, 0xbf, 0xbd, 0xe2, 0x82, 0xac)).toBe(200)
        const { messages } = await done(alex('get_history'))
        expect(messages.at(-1).content.text).toBe('h\uFFFD€')
      },
    )
  })
})
