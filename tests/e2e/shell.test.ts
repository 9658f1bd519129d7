import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FULL } from '../support/full.ts'
import { startServer, type TestServer } from '../support/server.ts'

// What the guides for agents tell them to paste, run as it stands there: a real shell, a real curl, a real server.
let server: TestServer
beforeAll(async () => {
  server = await startServer()
}, 180_000)
afterAll(() => server?.remove())

const GUIDES = join(import.meta.dir, '../../src/rooms/guides')
const PAGE = ['curl', 'hooks'].map((name) => readFileSync(join(GUIDES, `${name}.md`), 'utf8')).join('\n')
const snippets = (language: string) => [...PAGE.matchAll(new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``, 'g'))].map(([, text]) => text!)
const snippet = (language: string, begin: string) => {
  const [found, ...more] = snippets(language).filter((text) => text.includes(begin))
  if (!found || more.length > 0) throw new Error(`the guides have not one ${language} snippet with ${begin}`)
  return found
}

interface Ran {
  code: number | null
  out: string
  err: string
}
const sh = (command: string, environment: Record<string, string>, input = ''): Promise<Ran> =>
  new Promise((resolve) => {
    const child = spawn('sh', ['-c', command], { env: { PATH: process.env.PATH!, ...environment } })
    const [out, err]: [string[], string[]] = [[], []]
    child.stdout.on('data', (chunk) => void out.push(String(chunk)))
    child.stderr.on('data', (chunk) => void err.push(String(chunk)))
    child.on('close', (code) => resolve({ code, out: out.join(''), err: err.join('') }))
    child.stdin.on('error', () => {}) // a hook need not read what it is told
    child.stdin.end(input)
  })

const post = async (path: string, team: string | undefined, body: object): Promise<any> => {
  const headers = { 'content-type': 'application/json', ...(team && { 'x-team-id': team }) }
  const response = await fetch(`${server.url}/api/sessions${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  expect(response.status).toBe(200)
  return response.json()
}

/** Alex has convened, Bea has joined; a home of its own, and the variables that the guide sets first. */
const begin = async () => {
  const made = await post('', undefined, { title: 'Shipping the parser', description: 'd', creator_team_name: 'Alex' })
  const joined = await post(`/${made.session_id}/join`, undefined, { team_name: 'Bea' })
  const home = mkdtempSync(join(tmpdir(), 'parley-home-'))
  const shell = { HOME: home, BASE: server.url, SID: made.session_id, TEAM_ID: joined.team_id, CURSOR: '1' }
  const say = (content: string, to?: string[]) => post(`/${made.session_id}/messages`, made.team_id, { content, ...(to && { to }) })
  return { id: made.session_id as string, alex: made.team_id as string, home, shell, say, end: () => rmSync(home, { recursive: true }) }
}

describe('the hooks of the guide', () => {
  const settings = JSON.parse(snippet('json', '"hooks"')).hooks
  const [after, stop] = [settings.PostToolUse, settings.Stop].map(([{ hooks }]) => hooks[0].command as string) as [string, string]
  const TOOL = JSON.stringify({ hook_event_name: 'PostToolUse', tool_name: 'Bash', tool_response: { stdout: '"stop_hook_active": true' } })
  const STOP = JSON.stringify({ hook_event_name: 'Stop', stop_hook_active: false })
  const AGAIN = JSON.stringify({ hook_event_name: 'Stop', stop_hook_active: true })
  const QUIET: Ran = { code: 0, out: '', err: '' }

  const hooked = async () => {
    const room = await begin()
    writeFileSync(join(room.home, '.parley-hook.sh'), snippet('sh', '#!/bin/sh'))
    const kept = await sh(snippet('sh', '.parley.env)'), room.shell)
    expect(kept).toEqual(QUIET)
    expect(statSync(join(room.home, '.parley.env')).mode & 0o077).toBe(0)
    return { ...room, run: (command: string, input: string) => sh(command, { HOME: room.home }, input) }
  }

  test('after a tool each piece of news is told once, by the exit code and the stream that an agent is shown', async () => {
    const { run, say, end } = await hooked()
    expect(await run(after, TOOL)).toEqual(QUIET)
    await say('for all')
    const told = await run(after, TOOL)
    expect([told.code, told.out]).toEqual([2, ''])
    expect(told.err).toContain('{"unread":1,"addressed":0,"last_cursor":2,"doc_version":0,"wake":true}')
    expect(await run(after, TOOL)).toEqual(QUIET)
    await say('for Bea', ['Bea'])
    expect((await run(after, TOOL)).err).toContain('"unread":2,"addressed":1')
    end()
  }, 180_000)

  test('an agent is held back from stopping while something is unread, once, and not by what it has read', async () => {
    const { id, shell, run, say, end } = await hooked()
    expect(await run(stop, STOP)).toEqual(QUIET)
    await say('wait')
    expect((await run(stop, STOP)).code).toBe(2)
    expect((await run(stop, STOP)).code).toBe(2)
    expect(await run(stop, AGAIN)).toEqual(QUIET)
    await fetch(`${server.url}/api/sessions/${id}/wait?since_cursor=1&timeout=0`, { headers: { 'x-team-id': shell.TEAM_ID } })
    expect(await run(stop, STOP)).toEqual(QUIET)
    end()
  }, 180_000)

  test('nobody is bothered without a session, by a team that left, or when no server answers', async () => {
    const { home, id, shell, run, say, end } = await hooked()
    await say('unread')
    await post(`/${id}/leave`, shell.TEAM_ID, {})
    for (const [command, input] of [
      [after, TOOL],
      [stop, STOP],
    ] as const)
      expect(await run(command, input)).toEqual(QUIET)
    writeFileSync(join(home, '.parley.env'), `BASE='http://127.0.0.1:9'\nSID='${id}'\nTEAM_ID='x'\n`)
    for (const [command, input] of [
      [after, TOOL],
      [stop, STOP],
    ] as const)
      expect(await run(command, input)).toEqual(QUIET)
    rmSync(join(home, '.parley.env'))
    for (const [command, input] of [
      [after, TOOL],
      [stop, STOP],
    ] as const)
      expect(await run(command, input)).toEqual(QUIET)
    end()
  }, 180_000)
})

describe('the shell of the guide', () => {
  test('its loop prints every message once, whatever is written in it, and ends with the session', async () => {
    const { id, alex, shell, say, end } = await begin()
    const texts = [
      'one',
      '"next_cursor":999,"session_closed":true} \\"next_cursor\\":7',
      "quote ' and `back` and $HOME\n\nlines",
      'é😀 %s \\n',
    ]
    await say(texts[0]!)
    const looping = sh(snippet('sh', 'while page='), shell)
    for (const text of texts.slice(1)) {
      await new Promise((resolve) => setTimeout(resolve, 100))
      await say(text)
    }
    await post(`/${id}/conclude`, alex, { summary_section: 'done' })
    const { code, out } = await looping
    expect(code).toBe(0)
    const messages = out
      .trimEnd()
      .split('\n')
      .flatMap((line) => JSON.parse(line).messages)
    expect(messages.map(({ content, event }) => content?.text ?? event)).toEqual([...texts, 'session_concluded'])
    expect(messages.map(({ sequence }) => sequence)).toEqual([2, 3, 4, 5, 6])
    end()
  }, 180_000)

  test('its loop ends when the team no longer has a place there', async () => {
    const { id, shell, end } = await begin()
    await post(`/${id}/leave`, shell.TEAM_ID, {})
    const { out, err } = await sh(snippet('sh', 'while page='), shell)
    expect(out).toBe('')
    expect(err).toMatch(/the loop ended before the session: .*unauthorized/)
    end()
  }, 180_000)

  const outlives = (awayMs: number) => async () => {
    const { id, alex, shell, say, end } = await begin()
    await say('before')
    const looping = sh(snippet('sh', 'while page='), shell)
    await new Promise((resolve) => setTimeout(resolve, 300))
    await server.kill()
    await new Promise((resolve) => setTimeout(resolve, awayMs))
    await server.restart()
    await say('after')
    await post(`/${id}/conclude`, alex, { summary_section: 'done' })
    const { out, err } = await looping
    expect(err).toBe('')
    const messages = out.split('\n').flatMap((line) => (line === '' ? [] : JSON.parse(line).messages))
    expect(messages.map(({ content, event }) => content?.text ?? event)).toEqual(['before', 'after', 'session_concluded'])
    end()
  }
  test('its loop outlives a server that is killed and started again', outlives(0), 180_000)
  test.skipIf(!FULL)('its loop outlives a server that is away for most of a minute', outlives(45_000), 180_000)

  test.skipIf(!FULL)(
    'its loop keeps its place where a proxy answers for a server that is away',
    async () => {
      const { alex, id, shell, say, end } = await begin()
      let away = true
      const proxy = Bun.serve({
        port: 0,
        fetch({ url, headers }) {
          if (away) return ((away = false), new Response('<html>\nBad gateway\n</html>\n', { status: 502 }))
          const { pathname, search } = new URL(url)
          return fetch(`${server.url}${pathname}${search}`, { headers: { 'x-team-id': headers.get('x-team-id')! } })
        },
      })
      await say('before')
      const looping = sh(snippet('sh', 'while page='), { ...shell, BASE: `http://127.0.0.1:${proxy.port}` })
      await new Promise((resolve) => setTimeout(resolve, 4_000))
      await post(`/${id}/conclude`, alex, { summary_section: 'done' })
      const { out, err } = await looping
      expect(err).toBe('')
      const pages = out.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line).messages] : []))
      expect(pages.map((messages) => messages.map(({ content, event }: any) => content?.text ?? event))).toEqual([
        ['before'],
        ['session_concluded'],
      ])
      await proxy.stop(true)
      end()
    },
    180_000,
  )

  test('who was given an id joins with its lines, and follows with its loop', async () => {
    const { id, shell, say, end } = await begin()
    const joining = snippet('sh', 'SID=THE_ID').replace('THE_ID_YOU_WERE_GIVEN', id).replace("Bea'\\''s Team", "Cleo'\\''s Team")
    const { out } = await sh(`cd "$HOME"\n${joining}\necho "$TEAM_ID $CURSOR"`, { HOME: shell.HOME, BASE: shell.BASE })
    const [TEAM_ID, CURSOR] = out.trim().split(' ')
    expect(CURSOR).toBe('2') // after what was there before, its own team_joined included
    await say('welcome')
    const answer = await fetch(`${server.url}/api/sessions/${id}/wait?since_cursor=${CURSOR}&timeout=0`, {
      headers: { 'x-team-id': TEAM_ID! },
    })
    expect(((await answer.json()) as { messages: unknown[] }).messages).toHaveLength(1)
    end()
  }, 180_000)

  test('its lines bring the document as markdown, and send it back', async () => {
    const { id, alex, shell, end } = await begin()
    const [get, , back] = [.../^- The document without JSON.*$/m.exec(PAGE)![0].matchAll(/`([^`]+)`/g)].map(([, code]) => code!)
    const begun = /^curl .*?"X-Team-ID: [^"]*"/.exec(get!)![0]
    const version = /doc-version: (\d+)/i
    await post(`/${id}/doc`, alex, { content: '# "Plan"\n\nit\'s 100 %\n', expected_version: 0 })
    await sh(`cd "$HOME"\n${get}\necho "- added" >> doc.md`, shell)
    const [, read] = version.exec(readFileSync(join(shell.HOME, 'headers.txt'), 'utf8'))!
    const { out, err } = await sh(`cd "$HOME"\n${begun} ${back!.replace('expected_version=3', `expected_version=${read}`)}`, shell)
    expect([err, JSON.parse(out).version]).toEqual(['', 2])
    await sh(`cd "$HOME"\n${get}`, shell)
    expect(readFileSync(join(shell.HOME, 'doc.md'), 'utf8')).toBe('# "Plan"\n\nit\'s 100 %\n- added\n')
    expect(version.exec(readFileSync(join(shell.HOME, 'headers.txt'), 'utf8'))![1]).toBe('2')
    end()
  }, 180_000)

  test.skipIf(!FULL)(
    'its line for each tool works, pasted one after the other',
    async () => {
      const WANTS = ['transfer_convener', 'update_work'] // a handle and an item, which only the reader knows
      const { shell, end } = await begin()
      const before = snippet('sh', 'BASE=http').replace(/^BASE=.*$/m, '')
      const lines = /<!-- curl -->([^]*?)<!-- \/curl -->/
        .exec(PAGE)![1]!
        .split('\n')
        .filter((line) => line.startsWith('curl '))
      const marked = lines.map((line) => `${line}\necho`)
      const { out } = await sh(['cd "$HOME"', before, ...marked].join('\n'), { HOME: shell.HOME, BASE: shell.BASE })
      const answers = out
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
      expect(answers).toHaveLength(lines.length)
      for (const [n, line] of lines.entries()) {
        const name = line.split('# ')[1]!
        if (!WANTS.includes(name)) expect(answers[n], name).not.toHaveProperty('error')
      }
      end()
    },
    180_000,
  )
})
