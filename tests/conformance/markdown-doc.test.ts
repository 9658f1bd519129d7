import { describe, expect } from 'bun:test'
import { test } from '../support/foreign.ts'
import { cookieOf, done, onOneEngine, room, viaRest } from '../support/parley.ts'

const DOC = '{ not JSON }\r\n\n# Café ☕\n\n```\n\ttab\n```\n\n' // begins with {, and ends with a blank line
const KIB = 1024

onOneEngine((parley) => {
  type Headers = Record<string, string>
  const begin = async () => {
    const { id, alex, bea } = await room(viaRest(parley()))
    const send = (method: string, path: string, body?: BodyInit, headers: Headers = {}, team = alex.token) =>
      parley().send(`/api/sessions/${id}/doc${path}`, {
        method,
        headers: { 'x-team-id': team, ...headers },
        ...(body !== undefined && { body }),
      })
    /** Sends the body as markdown. */
    const write = async (method: string, path: string, body: BodyInit, headers: Headers = {}) => {
      const response = await send(method, path, body, { 'content-type': 'text/markdown', ...headers })
      expect(response.headers.get('content-type')).toStartWith('application/json')
      return { status: response.status, headers: response.headers, body: (await response.json()) as any }
    }
    const read = (path = '', headers: Headers = {}) => send('GET', path, undefined, { accept: 'text/markdown', ...headers })
    return { id, alex, bea, send, write, read }
  }

  describe('the doc as markdown', () => {
    test.each(['PUT', 'POST'])('%s takes the body as the text, byte for byte, and never as JSON', async (method) => {
      const { alex, write, read } = await begin()
      expect(await write(method, '?expected_version=0', DOC)).toMatchObject({ status: 200, body: { version: 1 } })
      expect(await done(alex('read_session_doc'))).toEqual({ content: DOC, version: 1 })
      const json = '{"content":"a trap","expected_version":1}'
      await write(method, '?expected_version=1', json, { 'content-type': 'Text/Markdown; charset="UTF-8"; variant=GFM' })
      expect(await (await read()).text()).toBe(json)
    })

    test('GET gives the text alone, with its version in a header', async () => {
      const { write, read } = await begin()
      const empty = await read()
      expect([await empty.text(), empty.headers.get('doc-version')]).toEqual(['', '0'])
      await write('PUT', '?expected_version=0', DOC)
      const response = await read()
      expect(response.headers.get('content-type')).toBe('text/markdown; charset=utf-8')
      expect(response.headers.get('doc-version')).toBe('1')
      expect(response.headers.get('x-content-type-options')).toBe('nosniff')
      expect(response.headers.get('doc-truncated')).toBeNull()
      expect(await response.text()).toBe(DOC)
    })

    test('a byte order mark is no part of the text', async () => {
      const { write, read } = await begin()
      await write('PUT', '?expected_version=0', new Uint8Array([0xef, 0xbb, 0xbf, ...new TextEncoder().encode('# Café')]))
      expect(await (await read('?section=Caf%C3%A9')).text()).toBe('# Café')
    })

    test('what the request prefers decides, and without a preference it is JSON', async () => {
      const { write, send } = await begin()
      await write('PUT', '?expected_version=0', DOC)
      const typeFor = async (accept: string) => (await send('GET', '', undefined, { accept })).headers.get('content-type')?.split(';')[0]
      for (const accept of ['text/markdown', 'text/markdown, */*;q=0.1', 'application/json;q=0.5, text/markdown'])
        expect([accept, await typeFor(accept)]).toEqual([accept, 'text/markdown'])
      for (const accept of ['*/*', 'application/json', 'text/html', 'text/markdown;q=0.1, application/json', 'text/markdown;q=0'])
        expect([accept, await typeFor(accept)]).toEqual([accept, 'application/json'])
    })

    test('a section, an older version and a length can be asked for, and what was cut says so', async () => {
      const { write, read } = await begin()
      await write('PUT', '?expected_version=0', '# S\n\n## Goals\n\nAim.\n\n## Notes\n\nn\n')
      await write('PUT', '?expected_version=1&section=Goals', '{ new }')
      expect(await (await read('?section=Goals')).text()).toContain('{ new }')
      const first = await read('?version=1')
      expect([first.headers.get('doc-version'), await first.text()]).toEqual(['1', '# S\n\n## Goals\n\nAim.\n\n## Notes\n\nn\n'])
      await write('PUT', '?expected_version=2', `# Long\n\n${'word '.repeat(1_000)}`)
      const cut = await read('?max_chars=1000')
      expect(cut.headers.get('doc-truncated')).toBe(String('# Long\n\n'.length + 5_000))
      const text = await cut.text()
      expect(text).toStartWith('# Long\n\nword')
      expect(text).toEndWith('…')
      expect(text.length).toBeLessThanOrEqual(1_000)
    })

    test('an append is the text itself, on a line of its own', async () => {
      const { alex, write } = await begin()
      expect((await write('POST', '/append', '{"text":"one"}')).body).toMatchObject({ version: 1 })
      await write('POST', '/append', '- two\n')
      expect((await done(alex('read_session_doc'))).content).toBe('{"text":"one"}\n- two\n')
    })

    test('nothing changed since the ETag: 304, with the version that the text has by now', async () => {
      const { write, read, send } = await begin()
      await write('PUT', '?expected_version=0', 'same')
      const etag = (await read()).headers.get('etag')!
      expect(etag).toMatch(/^"/)
      for (const [version, text] of ['other', 'same'].entries()) await write('PUT', `?expected_version=${version + 1}`, text)
      const again = await read('', { 'if-none-match': etag })
      expect([again.status, again.headers.get('doc-version'), await again.text()]).toEqual([304, '3', ''])
      expect((await send('GET', '', undefined, { accept: 'application/json', 'if-none-match': etag })).status).toBe(200)
      await write('PUT', '?expected_version=3', 'changed')
      expect((await read('', { 'if-none-match': etag })).status).toBe(200)
    })

    test('a retry with the same Idempotency-Key writes once', async () => {
      const { alex, write } = await begin()
      const key = { 'idempotency-key': 'once' }
      const first = await write('POST', '/append', '- note', key)
      const again = await write('POST', '/append', '- note', key)
      expect(again.body).toEqual(first.body)
      expect(again.headers.get('idempotency-replayed')).toBe('true')
      expect((await write('POST', '/append', '- another', key)).body.error.code).toBe('idempotency_mismatch')
      expect(await done(alex('read_session_doc'))).toEqual({ content: '- note', version: 1 })
    })

    test('a person may as well', async () => {
      const { id, bea } = await begin()
      const cookie = await cookieOf(parley(), { name: 'Robin', role: 'person' })
      const headers = { cookie, origin: 'http://127.0.0.1:7423', 'content-type': 'text/markdown' }
      const written = await parley().send(`/api/sessions/${id}/doc?expected_version=0`, { method: 'PUT', headers, body: 'by Robin' })
      expect(written.status).toBe(200)
      const read = await parley().send(`/api/sessions/${id}/doc`, { headers: { cookie, accept: 'text/markdown' } })
      expect(await read.text()).toBe('by Robin')
      expect((await done(bea('read_session_doc'))).version).toBe(1)
    })
  })

  describe('markdown that is refused changes nothing, and the answer, in JSON, says what to do', () => {
    test.each([
      ['', 'a text', {}, 'expected_version', /the version you read .*\?expected_version=N/],
      ['?expected_version=one', 'a text', {}, 'expected_version', /expected_version: must be a whole number/],
      ['?expected_version=0', '', {}, 'content', /the body is empty.* send it as JSON/],
      ['?expected_version=0&content=x', 'a text', {}, 'content', /leave it out of the URL/],
      ['?expected_version=0&sektion=Goals', 'a text', {}, 'sektion', /the arguments are session_id, content, expected_version, section/],
      ['?expected_version=0', 'nul \0', {}, 'content', /U\+0000/],
      ['?expected_version=0', 'a text', { 'content-type': 'text/markdown; charset=ISO-8859-1' }, 'content-type', /must be UTF-8/],
      ['?expected_version=0', new Uint8Array([0x23, 0xff, 0xfe]), {}, undefined, /not UTF-8/],
      ['?expected_version=0', 'x'.repeat(512 * KIB + 1), {}, 'content', /at most 512 KiB/],
      ['?expected_version=0', '# A text', { 'content-type': 'text/plain' }, undefined, /Content-Type: text\/markdown/],
    ] as const)('PUT %s', async (query, body, headers, field, message) => {
      const { alex, write } = await begin()
      const { status, body: answer } = await write('PUT', query, body as BodyInit, headers as Headers)
      expect(status).toBe(400)
      expect(answer.error).toMatchObject({ code: 'invalid_request', message: expect.stringMatching(message) })
      expect(answer.error.details.field).toBe(field)
      expect((await done(alex('read_session_doc'))).version).toBe(0)
    })

    test('more than 4 MiB is too large, announced or not', async () => {
      const { write } = await begin()
      const body = 'x'.repeat(4 * KIB * KIB + 1)
      expect(await write('PUT', '?expected_version=0', body)).toMatchObject({ status: 413, body: { error: { code: 'payload_too_large' } } })
      const streamed = new Blob([body]).stream()
      expect((await write('PUT', '?expected_version=0', streamed)).status).toBe(413)
    })

    test('an empty append, or one of more than 64 KiB', async () => {
      const { write } = await begin()
      const { message } = (await write('POST', '/append', '')).body.error
      expect(message).toBe('text: the body is empty, as curl sends it for a file that it cannot read.')
      expect((await write('POST', '/append', 'x'.repeat(64 * KIB + 1))).body.error.message).toBe('text: must have at most 64 KiB')
    })

    test('an old version is a conflict that tells the current one, and a missing section is named', async () => {
      const { write, read } = await begin()
      await write('PUT', '?expected_version=0', 'one')
      const conflict = await write('PUT', '?expected_version=0', 'two')
      expect(conflict).toMatchObject({ status: 409, body: { error: { code: 'version_conflict', details: { current_version: 1 } } } })
      const missing = await read('?section=Goals')
      expect([missing.status, missing.headers.get('content-type')]).toEqual([404, 'application/json; charset=utf-8'])
      expect(((await missing.json()) as any).error.details.field).toBe('section')
    })

    test('without a credential, with its own team_id in the text, and in a session that is closed', async () => {
      const { alex, bea, write, send } = await begin()
      const markdown = { 'content-type': 'text/markdown' }
      expect((await send('PUT', '?expected_version=0', 'x', markdown, 'nobody')).status).toBe(401)
      expect((await write('PUT', '?expected_version=0', `I am ${alex.token}`)).body.error.code).toBe('secret_in_text')
      await done(bea('conclude_session', { summary_section: 'end' }))
      expect((await write('POST', '/append', 'late')).body.error.code).toBe('session_closed')
    })
  })
})
