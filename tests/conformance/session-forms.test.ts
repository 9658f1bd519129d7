import { afterAll, describe, expect } from 'bun:test'
import { problemOf } from '../../src/pages/forms/perform-as-person.ts'
import { controlScene } from '../support/control-scene.ts'
import { beforeAll, test } from '../support/foreign.ts'
import { cookieOf, done, feedOf, onOneEngine, room, startParley, viaRest, type Parley } from '../support/parley.ts'

const HTML = { accept: 'text/html' }
const post = (parley: Parley, path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
  parley.send(path, { method: 'POST', body: new URLSearchParams(fields), headers: { ...HTML, ...headers } })

/** Every form there is, filled in so that it would do something. */
const forms = (id: string, handle: string): [path: string, fields: Record<string, string>][] => [
  ['/sessions/new', { title: 'Mine', description: '', expected_teams: '2' }],
  [`/sessions/${id}/messages`, { text: 'typed' }],
  [`/sessions/${id}/edit`, { title: 'Renamed', description: 'typed', reason: 'typed' }],
  [`/sessions/${id}/conclude`, { summary_section: 'typed' }],
  [`/sessions/${id}/reopen`, { reason: 'typed' }],
  [`/sessions/${id}/resume`, { title: 'Next', description: 'typed', expected_teams: '2' }],
  [`/sessions/${id}/convener`, { to: handle }],
  [`/sessions/${id}/history`, { version: '0', expected_version: '1' }],
  [`/sessions/${id}/conclude/preview`, { summary_section: 'typed' }],
  ['/settings/check', {}],
  ['/settings/mcp-url', { mcp_url: 'https://parley.example/mcp' }],
  ['/settings/loop-guard', { mode: 'off', posts: '12', likeness: '0.9' }],
  ['/settings/wakes', { wakes_per_hour: '7' }],
]

test('a person whose sign-in ends while a form is under way reads a sentence for people', () => {
  const ended = 'Not authenticated. The key or sign-in that this call came with has ended. Ask whoever made it for a new one.'
  expect(problemOf({ code: 'unauthorized', message: ended, details: {} })).toMatchObject({
    text: 'You are not signed in, or no longer. Sign in and try again.',
    signIn: true,
  })
})

onOneEngine((parley) => {
  const begin = async () => {
    const person = await cookieOf(parley(), { name: 'Robin', role: 'person' })
    const made = await room(viaRest(parley()))
    await done(made.alex('update_session_doc', { content: 'the plan', expected_version: 0 }))
    return { ...made, person, send: (path: string, fields: Record<string, string>) => post(parley(), path, fields, { cookie: person }) }
  }
  const sessions = async () => (await parley().database.query('select id from sessions')).length

  test('no form does anything for a stranger, a reader or another site’s page', async () => {
    const { id, alex, bea, person } = await begin()
    const reader = await cookieOf(parley(), { name: 'Kim', role: 'reader' })
    const before = [await feedOf(alex), await sessions(), await done(alex('read_session_doc')), parley().services.setting('mcp_url')]
    for (const [path, fields] of forms(id, bea.handle)) {
      expect((await post(parley(), path, fields)).status, path).toBe(401)
      expect((await post(parley(), path, fields, { cookie: reader })).status, path).toBe(403)
      expect((await post(parley(), path, fields, { cookie: `${person.slice(0, -4)}AAAA` })).status, path).toBe(401)
      for (const headers of [{ origin: 'https://evil.example' }, { origin: 'null' }, { 'sec-fetch-site': 'cross-site' }])
        expect((await post(parley(), path, fields, { cookie: person, ...(headers as Record<string, string>) })).status, path).toBe(403)
    }
    expect([await feedOf(alex), await sessions(), await done(alex('read_session_doc')), parley().services.setting('mcp_url')]).toEqual(
      before,
    )
  })

  test('a team’s token in the header does not make a stranger a person', async () => {
    const { id, alex } = await begin()
    expect((await post(parley(), `/sessions/${id}/messages`, { text: 'x' }, { 'x-team-id': alex.token })).status).toBe(401)
  })

  test('an answer that is refused names its question to those alone who may read the session', async () => {
    const { id, alex, bea } = await begin()
    const { message_id } = await done(alex('post_message', { content: 'Which parser?', to: [bea.handle], expects_reply: true }))
    const answer = async (to: Parley, session = id) => {
      const sent = await post(to, `/sessions/${session}/messages`, { text: 'Ours.', reply_to: message_id })
      return [sent.status, (await sent.text()).includes('Answers <bdi>Alex')]
    }
    expect(await answer(parley())).toEqual([401, true])
    expect(await answer(parley(), 'abc')).toEqual([401, false])
    const closed = await parley().beside({ VIEWER_PASSWORD: 'the viewers password' })
    expect(await answer(closed as Parley)).toEqual([401, false])
    await closed.close()
  })

  test('a place in the past of the inbox that was changed by hand shows the newest', async () => {
    const { person } = await begin()
    for (const at of ['0000-01-01T00:00:00.000Z', '2026-02-30T00:00:00.000Z', '2026-02-01T24:00:00.000Z', 'x'])
      for (const show of ['decided', 'expired']) {
        const path = `/approvals?show=${show}&before=${at}_${crypto.randomUUID()}`
        expect([at, (await parley().send(path, { headers: { ...HTML, cookie: person } })).status]).toEqual([at, 200])
      }
  })

  test('what nobody changed in a form is not sent, so that it undoes nothing that others changed meanwhile', async () => {
    const { id, alex, person, send } = await begin()
    const was = (html: string) =>
      JSON.parse(html.match(/name="was" value="([^"]*)"/)![1]!.replaceAll('&quot;', '"')) as Record<string, string>
    const form = async (path: string) => was(await (await parley().send(path, { headers: { ...HTML, cookie: person } })).text())
    const began = await form(`/sessions/${id}/edit`)
    await done(alex('update_session_metadata', { description: 'A lexer first.', reason: 'The scope has changed.' }))
    const fields = { ...began, title: 'Shipping it', reason: 'Shorter.', was: JSON.stringify(began) }
    expect((await send(`/sessions/${id}/edit`, fields)).status).toBe(303)
    const session = await done(alex('get_session'))
    expect([session.title, session.description]).toEqual(['Shipping it', 'A lexer first.'])

    const scene = await controlScene(parley())
    const limits = `/sessions/${scene.session_id}/limits`
    const shown = async () => (await done(scene.call('get_session', { session_id: scene.session_id }))).session
    const start = await form(limits)
    await done(scene.call('update_session', { session_id: scene.session_id, permission_mode: 'plan' }))
    expect((await send(limits, { ...start, max_usd: '5', was: JSON.stringify(start) })).status).toBe(303)
    expect(await shown()).toMatchObject({ permission_config: { mode: 'plan' }, max_usd: 5 })
    expect((await send(limits, { ...start, was: JSON.stringify(start) })).status).toBe(303)
    expect((await shown()).permission_config.mode).toBe(start.permission_mode)
  })

  test('each form sent twice with its key is done once', async () => {
    const { id, alex, bea, send } = await begin()
    const before = await sessions()
    const key = () => crypto.randomUUID()
    const twice = async (path: string, fields: Record<string, string>) => {
      const answers = [await send(path, fields), await send(path, fields)]
      expect(
        answers.map(({ status }) => status),
        path,
      ).toEqual([303, 303])
      expect(answers[1]!.headers.get('location')).toBe(answers[0]!.headers.get('location'))
      return answers[0]!.headers.get('location')
    }
    expect(await twice('/sessions/new', { title: 'Mine', description: '', expected_teams: '3', key: key() })).toMatch(
      /^\/connect\?session=[\w-]{36}$/,
    )
    expect(await twice(`/sessions/${id}/messages`, { text: 'once', key: key() })).toBe(`/sessions/${id}#m2`)
    await twice(`/sessions/${id}/edit`, { title: 'Renamed', description: 'd', reason: 'r', key: key() })
    await twice(`/sessions/${id}/convener`, { to: bea.handle, key: key() })
    await twice(`/sessions/${id}/history`, { version: '0', expected_version: '1', key: key() })
    await twice(`/sessions/${id}/conclude`, { summary_section: 'end', key: key() })
    await twice(`/sessions/${id}/resume`, { title: 'Next', description: '', expected_teams: '2', key: key() })
    await twice(`/sessions/${id}/reopen`, { reason: 'r', key: key() })
    expect(await sessions()).toBe(before + 2)
    expect((await done(alex('read_session_doc'))).version).toBe(3)
    expect((await feedOf(alex)).map(({ type, event }) => event ?? type)).toEqual([
      'team_joined',
      'chat',
      'session_metadata_updated',
      'convener_changed',
      'session_concluded',
      'session_reopened',
    ])
  })

  test('a session that a person opens is convened by the first team, and one that goes on opens with the conclusion', async () => {
    const { id, alex, send } = await begin()
    await done(alex('conclude_session', { summary_section: 'It ships.' }))
    const location = (await send(`/sessions/${id}/resume`, { title: 'Next', description: 'a\r\nb', expected_teams: '4' })).headers.get(
      'location',
    )!
    const next = location.split('=')[1]!
    const cleo = await done(viaRest(parley())('join_session', { session_id: next, team_name: 'Cleo' }))
    const read = (name: string) => done(viaRest(parley())(name, { session_id: next }, { team: cleo.team_id }))
    expect(await read('get_session')).toMatchObject({
      title: 'Next',
      description: 'a\nb',
      expected_teams: 4,
      convener: { team_id: cleo.handle, team_name: 'Cleo', left: false },
      genealogy: { resumed_from_session_id: id, series_id: id },
    })
    expect((await read('read_session_doc')).content).toContain('> It ships.')
    expect((await read('get_doc_history')).versions).toMatchObject([{ team: 'Robin', written_by_team_id: null }])
  })

  test('what was typed has the line breaks that it is shown with', async () => {
    const { id, alex, send } = await begin()
    await send(`/sessions/${id}/messages`, { text: 'one\r\ntwo' })
    expect((await feedOf(alex)).at(-1).content.text).toBe('one\ntwo')
  })

  test('a title changed on the page changes no line breaks of the description', async () => {
    const { id, alex, send } = await begin()
    await done(alex('update_session_metadata', { description: 'one\r\ntwo', reason: 'scope' }))
    expect((await send(`/sessions/${id}/edit`, { title: 'Renamed', description: 'one\r\ntwo', reason: 'goal' })).status).toBe(303)
    expect((await feedOf(alex)).at(-1).changes).toEqual({ title: { from: expect.any(String), to: 'Renamed' } })
    expect((await done(alex('get_session'))).description).toBe('one\r\ntwo')
  })

  test('an item of the board keeps its line breaks, and what others changed meanwhile, where only its title is changed on the page', async () => {
    const { id, alex, person, send } = await begin()
    const { items } = await done(alex('plan_work', { items: [{ title: 'Write it', description: 'one\r\ntwo' }] }))
    const path = `/sessions/${id}/board/${items[0].item_id}/edit`
    const html = await (await parley().send(path, { headers: { ...HTML, cookie: person } })).text()
    const was = html.match(/name="was" value="([^"]*)"/)![1]!.replaceAll('&quot;', '"')
    const start = JSON.parse(was) as Record<string, string>
    await done(alex('update_work', { item_id: items[0].item_id, paths: ['src/lexer'] }))
    expect((await send(path, { ...start, title: 'Write all of it', description: 'one\r\ntwo', was })).status).toBe(303)
    expect((await done(alex('list_work'))).items).toMatchObject([
      { title: 'Write all of it', description: 'one\r\ntwo', paths: ['src/lexer'] },
    ])
    const seen = (await feedOf(alex)).length
    await done(alex('update_work', { item_id: items[0].item_id, description: 'one\ntwo' }))
    expect((await done(alex('list_work'))).items[0].description).toBe('one\r\ntwo')
    expect(await feedOf(alex)).toHaveLength(seen)
  })

  test('what is refused is a page with the reason and the text, under the status that a program would see', async () => {
    const { id, alex, send } = await begin()
    const refused = async (path: string, fields: Record<string, string>, status: number, ...texts: string[]) => {
      const response = await send(path, fields)
      const page = await response.text()
      expect(response.status, path).toBe(status)
      expect(response.headers.get('content-type')).toStartWith('text/html')
      for (const text of texts) expect(page).toContain(text)
    }
    await refused(
      '/sessions/new',
      { title: ' ', description: 'kept &', expected_teams: '2' },
      400,
      'Must not be blank.',
      'kept &amp;</textarea>',
    )
    await refused('/sessions/new', { title: 'x', description: '', expected_teams: '0' }, 400, 'expected_teams-problem')
    const choice = 'aria-invalid="true" aria-describedby="owner-problem" name="owner"'
    await refused(`/sessions/${id}/board/new`, { title: 'Measure', owner: 'Nobody' }, 400, choice, 'Owner not found. owner: no team')
    await refused(`/sessions/${id}/messages`, { text: 'x'.repeat(33 * 1024) }, 400, 'xxx</textarea>')
    await refused(`/sessions/${id}/messages`, { text: `my ${alex.token}` }, 400, 'contains a token or key')
    await refused(`/sessions/${id}/history`, { version: '0', expected_version: '0' }, 409, 'Somebody changed the document in the meantime')
    for (const version of ['abc', '', '1.5', '-1'])
      await refused(`/sessions/${id}/history`, { version, expected_version: '0' }, 400, 'ersion must be a whole number, 0 or more.')
    await refused(`/sessions/${id}/history`, { version: '7', expected_version: '0' }, 404, 'The document has no version 7.')
    await refused(`/sessions/${id}/history`, { version: '0', expected_version: 'abc' }, 400, 'whole number')
    await refused(`/sessions/${id}/reopen`, { reason: 'kept' }, 409, 'already open', 'kept</textarea>')
    await refused(`/sessions/${id}/convener`, { to: 'nobody' }, 404, 'No team with that handle or name is present')
    await refused(`/sessions/${crypto.randomUUID()}/convener`, { to: 'nobody' }, 404, 'There is no such session')
    await refused('/sessions/nonsense/convener', { to: 'nobody' }, 404, 'There is no such session')
    await refused(`/sessions/${id}/conclude`, { summary_section: 'x'.repeat(80 * 1024) }, 400, 'must have at most 64 KiB'.replace('m', 'M'))
    await refused(`/sessions/${id}/messages`, { text: 'x'.repeat(300 * 1024) }, 413)
    await done(alex('conclude_session', { summary_section: 'end' }))
    await refused(`/sessions/${id}/messages`, { text: 'kept' }, 403, 'This session is concluded', 'kept</textarea>')
  })

  test('at home a session is live or idle, as its page says, or concluded', async () => {
    const { id, alex } = await begin()
    const titled = async (query: string) =>
      (await (await parley().send(`/?q=${encodeURIComponent(id.slice(0, 8))}${query}`, { headers: HTML })).text()).includes(
        `/sessions/${id}"`,
      )
    await done(alex('update_session_metadata', { title: `Named ${id.slice(0, 8)}`, reason: 'to be found' }))
    expect([await titled(''), await titled('&status=live'), await titled('&status=idle'), await titled('&status=concluded')]).toEqual([
      true,
      true,
      false,
      false,
    ])
    const figures = async () => /Live sessions.*?>(\d+)</.exec(await (await parley().send('/', { headers: HTML })).text())![1]
    const badge = async () => />(Live|Idle)<\/span>/.exec(await (await parley().send(`/sessions/${id}`, { headers: HTML })).text())![1]
    const shown = async () => [await titled('&status=live'), await titled('&status=idle'), await badge()]
    const live = Number(await figures())
    const ago = (table: string, time: string) =>
      parley().database.query(`update ${table} where ${table.startsWith('sessions') ? 'id' : 'session_id'} = $1`, [id, time])
    await ago(`participants set last_seen_at = now() - $2::interval, polling_until = null`, '1 hour')
    expect(await shown()).toEqual([true, false, 'Live']) // something was said lately
    await ago(`sessions set last_event_at = now() - $2::interval`, '1 hour')
    expect(await shown()).toEqual([false, true, 'Idle'])
    expect(Number(await figures())).toBe(live - 1)
    await ago(`participants set polling_until = now() + $2::interval`, '20 seconds')
    expect(await shown()).toEqual([true, false, 'Live']) // somebody listens
    await done(alex('conclude_session', { summary_section: 'end' }))
    expect([await titled('&status=live'), await titled('&status=idle'), await titled('&status=concluded')]).toEqual([false, false, true])
  })
})

describe('where a password keeps strangers out', () => {
  let parley: Parley
  beforeAll(
    async () =>
      void (parley = await startParley({
        env: { VIEWER_PASSWORD: 'the viewers password', IDLE_AFTER: '10', MCP_URL: 'http://127.0.0.1:1/mcp' },
      })),
  )
  afterAll(() => parley?.close())

  test('a form sent from another site is told nothing of the session, not even whether it exists', async () => {
    const { id, alex, bea } = await room(viaRest(parley), { title: 'Very private', description: 'Nobody knows' })
    await done(alex('update_session_doc', { content: '## Conclusion\n\nunknown yet', expected_version: 0 }))
    const nobody = crypto.randomUUID()
    for (const [path, fields] of forms(id, bea.handle)) {
      const [there, not] = await Promise.all([path, path.replace(id, nobody)].map(async (at) => (await post(parley, at, fields)).text()))
      const bare = (text: string) =>
        text
          .replaceAll(id, '~')
          .replaceAll(nobody, '~')
          .replaceAll(id.slice(0, 8), '~')
          .replaceAll(nobody.slice(0, 8), '~')
          .replace(/name="key" value="[^"]*"/g, '')
      expect(bare(there!), path).toBe(bare(not!))
      expect(there).not.toMatch(/Very private|Nobody knows|unknown yet|Bea/)
    }
    for (const act of ['edit', 'conclude', 'resume', 'convener', 'history'])
      expect((await parley.send(`/sessions/${id}/${act}`, { headers: HTML })).status).toBe(303)
  })

  test('a variable that was set to its default is shown as set, a secret as no more than that', async () => {
    const cookie = await cookieOf(parley, { name: 'Robin', role: 'person' })
    const page = await (await parley.send('/settings', { headers: { ...HTML, cookie } })).text()
    const sourceOf = (name: string) => new RegExp(`>${name}</code>.*?(default|environment|saved)</span></td></tr>`, 's').exec(page)?.[1]
    expect(['IDLE_AFTER', 'DISCONNECTED_AFTER', 'VIEWER_PASSWORD', 'PORT', 'MCP_URL'].map(sourceOf)).toEqual([
      'environment',
      'default',
      'environment',
      'default',
      'environment',
    ])
    expect(page).not.toContain('the viewers password')
  })
})
