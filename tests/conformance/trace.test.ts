// The trace viewer's pages without a browser: what is there, what is not, what is brought when it is asked for.
import { expect } from 'bun:test'
import { controlScene } from '../support/control-scene.ts'
import { test } from '../support/foreign.ts'
import { demoTranscript, LONG_OUTPUT } from '../support/demo-transcript.ts'
import { indexed, trace, type Step } from '../support/history.ts'
import { done, onOneEngine, room, say, viaRest } from '../support/parley.ts'
import { said } from '../support/played-runner.ts'
import { forget } from '../support/transcripts.ts'

const HTML = { accept: 'text/html' }

onOneEngine((parley) => {
  const open = async (path: string, headers: Record<string, string> = HTML) => {
    const response = await parley().send(path, { headers })
    return {
      status: response.status,
      location: response.headers.get('location'),
      type: response.headers.get('content-type'),
      text: await response.text(),
    }
  }
  const anchors = (html: string) => [...html.matchAll(/ id="e(\d+)"/g)].map(([, sequence]) => Number(sequence))
  const turnsIn = (html: string) =>
    [...html.matchAll(/href="\/sessions\/[\w-]+\/turns\/(\d+)" data-part="turn" (?:aria-current="page" )?class="grid/g)].map(([, n]) =>
      Number(n),
    )
  const imported = async () => {
    const response = await parley().send('/api/traces', { body: demoTranscript() })
    return ((await response.json()) as { session_id: string }).session_id
  }

  test('an imported session is its turns: no feed, no composer, nothing to conclude', async () => {
    const id = await imported()
    const { status, text } = await open(`/sessions/${id}`)
    expect(status).toBe(200)
    for (const said of ['Claude Code', 'Not ended', '4 turns', 'claude-opus-5', 'Turn 1', 'feed.jsonl?include_trace=true'])
      expect([said, text.includes(said)]).toEqual([said, true])
    for (const absent of ['Concluded', 'id="composer"', 'id="live"', '/conclude', 'Connect agent'])
      expect([absent, text.includes(absent)]).toEqual([absent, false])
    expect(turnsIn(text)).toEqual([1, 2, 3, 4])
    expect(anchors(text)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17])
    const home = (await open('/')).text
    expect(home).toContain(`href="/sessions/${id}"`)
    expect(home).not.toContain('bg-violet') // the mark of what was concluded
    const listed = async (status: string) => (await open(`/?status=${status}`)).text.includes(`href="/sessions/${id}"`)
    expect([await listed('imported'), await listed('concluded'), await listed('live')]).toEqual([true, false, false])
  })

  test('a turn or event that does not exist is not_found, and the page says which turns there are', async () => {
    const id = await imported()
    const missing = await open(`/sessions/${id}/turns/99`)
    expect([missing.status, missing.text.includes('There is no turn 99')]).toEqual([404, true])
    expect(missing.text).toContain('This session has turns 1 to 4.')
    expect(turnsIn(missing.text)).toEqual([1, 2, 3, 4])
    const program = await open(`/sessions/${id}/turns/99`, { accept: 'application/json' })
    expect([program.status, JSON.parse(program.text).error.message]).toEqual([404, 'There is no turn 99 in this session: it has 4.'])
    for (const path of [
      'turns/0',
      'turns/x',
      'turns/1.5',
      'turns/99?part=turn',
      'turns/1?event=99',
      'turns/1?part=event&event=99',
      'events/99.txt',
      'events/x.txt',
    ])
      expect([path, (await open(`/sessions/${id}/${path}`)).status]).toEqual([path, 404])
    expect((await open(`/sessions/${id}/turns/1?part=event`)).status).toBe(400)
    expect((await open(`/sessions/${crypto.randomUUID()}/turns`)).status).toBe(404)
    expect((await open('/sessions/nothing/turns/1')).status).toBe(404)
  })

  test('a long result is cut, and whole when it is asked for: as a piece, on the page, as a file', async () => {
    const id = await imported()
    const end = 'part259'
    const page = await open(`/sessions/${id}/turns/1`)
    expect(page.text).toContain(`Show all ${LONG_OUTPUT.length.toLocaleString('en')} characters`)
    expect(page.text).not.toContain(end)
    const piece = await open(`/sessions/${id}/turns/1?event=10&part=event`)
    expect(piece.text).toStartWith('<div id="b10"')
    for (const { text } of [piece, await open(`/sessions/${id}/turns/1?event=10`)]) {
      expect(text).toContain(end)
      expect(text).not.toContain('Show all')
    }
    const file = await open(`/sessions/${id}/events/10.txt`)
    expect([file.type, file.text]).toEqual(['text/plain; charset=utf-8', LONG_OUTPUT])
    expect((await open(`/sessions/${id}/events/13.txt`)).text).toBe(
      'file_path:\nsrc/parser/template.ts\n\nnew_string:\nstart +\n  offset\n\nold_string:\nstart - offset',
    )
  })

  test('the list counts all events of a task, also those that came after a later turn had begun', async () => {
    const { runner, session_id, session, start } = await controlScene(parley())
    const { task_id } = await start()
    await runner.takeOne()
    await done(viaRest(parley())('post_message', { session_id, content: 'I look too.' }, { team: session.team_id }))
    await runner.print(task_id, [said('Looking.'), said('Found it.')])
    await runner.finish(task_id, 'Done.')
    await indexed(parley())
    const { text } = await open(`/sessions/${session_id}/turns/2`)
    expect([...text.matchAll(/>(\d+) events<\/span>/g)].map(([, count]) => count)).toEqual(['4'])
  })

  test('an event is found whichever turn its address names', async () => {
    const id = await imported()
    const moved = await open(`/sessions/${id}/turns/2?event=10`)
    expect([moved.status, moved.location]).toEqual([303, `/sessions/${id}/turns/1?event=10#e10`])
    expect((await open(`/sessions/${id}?event=20`)).text).toContain('<title>Turn 2 ')
    expect((await open(`/sessions/${id}?around=20`)).text).toContain('<title>Turn 2 ')
    expect((await open(`/sessions/${id}/turns/1?event=5`)).text).toMatch(/<details (?=[^>]*id="e5")(?=[^>]*open="")/)
  })

  test('a turn whose prompt begins with a code fence is known by the first line in it, and one that is a fence alone by that', async () => {
    const fence = '\n```ts\nconst one = 1\n```\nWhy is that?'
    const { id } = await trace(
      parley(),
      [fence, '```', '**Go** on\nat once'].map((text): Step[] => [{ type: 'user_input', text }]),
    )
    const { text } = await open(`/sessions/${id}`)
    const lines = [...text.matchAll(/ data-part="turn".*?block truncate[^>]*>([^<]*)</g)].map(([, line]) => line)
    expect(lines).toEqual(['const one = 1', '```', 'Go on'])
    await forget(parley(), id)
  })

  test('a long session comes a hundred turns at a time, whether it is indexed yet or not', async () => {
    const turns = Array.from({ length: 250 }, (_, i): Step[] => [
      { type: 'user_input', text: `Prompt ${i + 1}` },
      { type: 'assistant_response', text: 'Done.', terminal: true },
    ])
    const { id } = await trace(parley(), turns)
    const before = await open(`/sessions/${id}/turns/101`)
    expect(turnsIn(before.text)).toEqual(Array.from({ length: 100 }, (_, i) => 101 + i))
    expect(before.text).toContain('Earlier turns')
    expect(before.text).toContain('50 more of 250 turns')
    await indexed(parley())
    expect((await open(`/sessions/${id}/turns/101`)).text).toBe(before.text)
    const later = await open(`/sessions/${id}/turns/201?part=later`)
    expect(turnsIn(later.text)).toEqual(Array.from({ length: 50 }, (_, i) => 201 + i))
    expect(later.text).not.toMatch(/Earlier|more of/)
    const earlier = await open(`/sessions/${id}/turns/100?part=earlier`)
    expect([turnsIn(earlier.text).at(-1), earlier.text.includes('more of')]).toEqual([100, false])
    await forget(parley(), id)
  })

  test('a long turn comes 150 events at a time, and a link into it leads to the right ones', async () => {
    const long = Array.from({ length: 400 }, (_, i): Step => ({ type: 'assistant_response', text: `Answer ${i + 1}` }))
    const { id } = await trace(parley(), [[{ type: 'user_input', text: 'Go on' }], long])
    const first = await open(`/sessions/${id}/turns/2`)
    expect(anchors(first.text)).toEqual(Array.from({ length: 150 }, (_, i) => 2 + i))
    const next = await open(`/sessions/${id}/turns/2?from=151&part=events`)
    expect(anchors(next.text)).toEqual(Array.from({ length: 150 }, (_, i) => 152 + i))
    expect(next.text).toContain('?from=301')
    const there = await open(`/sessions/${id}/turns/2?event=401`)
    expect(anchors(there.text)).toEqual(Array.from({ length: 100 }, (_, i) => 302 + i))
    expect(there.text).toContain('Show this turn from its beginning')
    await forget(parley(), id)
  })

  test('a very large tool call is cut by the database, and its arguments keep their names', async () => {
    const given = { file_path: 'src/large.ts', content: 'x'.repeat(300_000), list: Array.from({ length: 9_000 }, (_, i) => i) }
    const { id } = await trace(parley(), [
      [
        { type: 'tool_call', tool: 'Write', content: { arguments: given } },
        { type: 'unknown', content: { record: { deep: 'y'.repeat(700_000) } } },
      ],
    ])
    const page = await open(`/sessions/${id}/turns/1`)
    expect(page.text.length).toBeLessThan(60_000)
    expect(page.text).toContain('src/large.ts')
    expect(page.text).toMatch(/Show all 3\d\d,\d{3} characters/)
    expect(page.text).toMatch(/href="\/sessions\/[\w-]+\/events\/2\.txt"[^>]*>Open all 700,/)
    expect((await open(`/sessions/${id}/turns/1?event=1&part=event`)).text).toContain('x'.repeat(300_000))
    expect((await open(`/sessions/${id}/events/2.txt`)).text).toContain('y'.repeat(700_000))
    await forget(parley(), id)
  })

  test('a room has its turns too, and its menu leads there', async () => {
    const { id, alex, bea } = await room(viaRest(parley()))
    expect((await open(`/sessions/${id}`)).text).toContain(`/sessions/${id}/turns`)
    await say(alex, 'I take the *lexer*.')
    await say(bea, 'Then we take the rest.')
    const { text } = await open(`/sessions/${id}/turns`)
    expect(turnsIn(text)).toEqual([1, 2])
    expect(text).toContain('Open the feed')
    expect(text).toContain('<em>lexer</em>')
    expect(text).not.toContain('no answer')
    expect((await open(`/sessions/${id}/turns/2`)).text).toContain('Then we take the rest.')
    const made = await viaRest(parley())('create_session', { title: 'Quiet', description: '', creator_team_name: 'Cleo' })
    const quiet = await open(`/sessions/${made.body.session_id}/turns`)
    expect([quiet.status, quiet.text.includes('No turns yet')]).toEqual([200, true])
    expect((await open(`/sessions/${made.body.session_id}/turns/1`)).status).toBe(200)
  })

  test('who may not read the session sees nothing of its turns', async () => {
    const id = await imported()
    const closed = await parley().beside({ VIEWER_PASSWORD: 'the viewers password' })
    for (const path of ['turns', 'turns/1', 'turns/1?part=turn']) {
      const response = await closed.send(`/sessions/${id}/${path}`, { headers: HTML })
      expect([path, response.status, response.headers.get('location')]).toEqual([
        path,
        303,
        `/sign-in?next=${encodeURIComponent(`/sessions/${id}/${path}`)}`,
      ])
    }
    expect((await closed.send(`/sessions/${id}/events/2.txt`)).status).toBe(401)
  })
})
