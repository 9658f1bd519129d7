// Who may call what of control: the table of keys in every cell, over MCP and REST, and all that is no good key.
import { afterAll, describe, expect } from 'bun:test'
import { revokeKey } from '../../../src/control/keys/keys.ts'
import { sha256 } from '../../../src/core/ids.ts'
import { KEY_SCOPES, type KeyScope } from '../../../src/core/key-scopes.ts'
import { beforeAll, test } from '../../support/foreign.ts'
import { bearer, keyOf } from '../../support/keys.ts'
import { cookieOf, done, onOneEngine, operations, soon, viaRest, type Served } from '../../support/parley.ts'
import { runnerAt, said, type TestRunner } from '../../support/played-runner.ts'

const CLOSED = { ACCESS_TOKEN: 'an-access-token-of-some-length', VIEWER_PASSWORD: 'look-but-do-not-touch' }

type Input = Record<string, unknown>

/** A session, what was said in it, and what was asked of it. */
interface Place {
  session_id: string
  message_id: string
  task_id: string
  worktree_id: string
}

/** Arguments with which each call succeeds for whoever may, about this place. A new tool must have its own. */
const ABOUT: Record<string, (place: Place) => Input> = {
  'control.list_sessions': () => ({}),
  'control.get_session': ({ session_id }) => ({ session_id }),
  'control.get_messages': ({ session_id }) => ({ session_id }),
  'control.get_message': ({ message_id }) => ({ message_id }),
  'control.list_worktrees': () => ({}),
  'control.list_tasks': ({ session_id }) => ({ session_id }),
  'control.get_task': ({ task_id }) => ({ task_id }),
  'control.create_session': ({ worktree_id }) => ({ title: 'T', worktree_id }),
  'control.send_prompt': ({ session_id }) => ({ session_id, prompt: 'Go on.' }),
  'control.update_session': ({ session_id }) => ({ session_id, title: `T ${crypto.randomUUID()}` }),
  'control.interrupt_session': ({ session_id }) => ({ session_id }),
  'control.manage_session': ({ session_id }) => ({ session_id, action: 'start' }),
  'control.set_session_name': () => ({ name: `N ${crypto.randomUUID()}` }),
}
const KEYED = operations.filter(({ toolset, callers }) => toolset === 'control' && callers.some(({ kind }) => kind === 'key'))
const TOOLS = KEYED.filter(({ restOnly }) => !restOnly).map(({ id }) => id)
const opens = (scope: KeyScope, id: string) => operations.find((operation) => operation.id === id)!.keyRow![scope]
const NAMES_NOTHING = new Set(['control.list_sessions', 'control.list_worktrees', 'control.create_session', 'control.set_session_name'])
const RUNNER = KEYED.filter(({ restOnly }) => restOnly).map(({ name, route }) => [name, `/api${route[1]}`] as const)

onOneEngine((parley) => {
  const opened = async (served: Served, runner: TestRunner, key: string): Promise<Place> => {
    const call = viaRest(served)
    const as = { headers: bearer(key) }
    const input = { title: 'T', worktree_id: runner.worktree, initial_prompt: 'Go.' }
    const { session_id, task_id } = await done(call('control.create_session', input, as))
    const { task } = await done(call('control.get_task', { task_id }, as))
    return { session_id, task_id, message_id: task.message_id, worktree_id: runner.worktree }
  }
  /** A session with a child, another that has nothing to do with it, and a runner for all of them. */
  const places = async (served: Served) => {
    const [runner, full] = [await runnerAt(served), await keyOf(served, 'full')]
    const own = await opened(served, runner, full)
    const child = await opened(served, runner, await keyOf(served, 'agent', own.session_id))
    return { runner, full, own, child, foreign: await opened(served, runner, full) }
  }
  const overRest = async (served: Served, tool: string, input: Input, headers: Record<string, string>) => {
    const response = await served.send(`/api/control/${tool}`, { body: JSON.stringify(input), headers })
    const answer = (await response.json()) as any
    return { status: response.status, code: answer.error?.code as string | undefined, message: answer.error?.message as string | undefined }
  }
  const overMcp = async (served: Served, tool: string, input: Input, headers: Record<string, string>) => {
    const connected = await served.client('/mcp/control', headers)
    const { structuredContent } = await connected.callTool({ name: tool, arguments: input })
    return (structuredContent as any).error?.code as string | undefined
  }
  const counts = () =>
    parley().database.query(
      'select (select count(*) from sessions) as s, (select count(*) from events) as e, (select count(*) from tasks) as t, (select count(*) from runners) as r',
    )
  const CODES: Record<number, string | undefined> = { 200: undefined, 401: 'unauthorized', 403: 'forbidden', 404: 'not_found' }
  const expectBoth = async (served: Served, row: string, input: () => Input, headers: Record<string, string>, status: number) => {
    const tool = row.slice('control.'.length)
    expect([row, (await overRest(served, tool, input(), headers)).status]).toEqual([row, status])
    expect([row, await overMcp(served, tool, input(), headers)]).toEqual([row, CODES[status]])
  }

  describe('a key gets what the table says, over REST and MCP, on a server that is closed to others', () => {
    let served: Served
    beforeAll(async () => void (served = await parley().beside(CLOSED)))
    afterAll(() => served?.close())

    describe.each(KEY_SCOPES)('%s', (scope) => {
      let there: Awaited<ReturnType<typeof places>>
      let as: Record<string, string>
      beforeAll(async () => {
        there = await places(served)
        as = bearer(await keyOf(served, scope, there.own.session_id))
      })

      test.each(TOOLS)('for %s', async (row) => {
        const { own, child, foreign } = there
        const opened = opens(scope, row)
        const before = await counts()
        const itself = scope === 'agent' && row === 'control.manage_session' ? 403 : 200
        await expectBoth(served, row, () => ABOUT[row]!(own), as, opened === false ? 403 : itself)
        if (opened === false) expect(await counts()).toEqual(before)
        if (!NAMES_NOTHING.has(row) && opened !== false) {
          await expectBoth(served, row, () => ABOUT[row]!(child), as, 200)
          const still = await counts()
          await expectBoth(served, row, () => ABOUT[row]!(foreign), as, opened === 'own' ? 404 : 200)
          if (opened === 'own') expect(await counts()).toEqual(still)
        }
      })
    })

    test.each(KEY_SCOPES)('%s does not answer what an agent asks permission for', async (scope) => {
      const { own } = await places(parley())
      const input = { session_id: own.session_id, request_id: 'x', allow: true }
      const as = bearer(await keyOf(parley(), scope, own.session_id))
      expect((await overRest(parley(), 'answer_permission', input, as)).status).toBe(403)
      expect((await overRest(parley(), 'answer_permission', input, {})).status).toBe(401)
    })

    test.each(KEY_SCOPES)('%s for the calls of a runner', async (scope) => {
      const { own, runner } = await places(parley())
      const headers = bearer(await keyOf(parley(), scope, own.session_id))
      const before = await counts()
      for (const [name, path] of RUNNER) {
        const input = { runner_id: runner.id, name: 'x', task_id: own.task_id, session_id: own.session_id }
        const response = await parley().send(path, { body: JSON.stringify(input), headers })
        await response.body?.cancel()
        // A run key passes, and the call then misses arguments or its own runner.
        expect([name, response.status === 403]).toEqual([name, scope !== 'run'])
      }
      expect(await counts()).toEqual(before)
      await done(runner.call('take_tasks', { runner_id: runner.id, timeout: 0 }))
    })
  })

  describe('an agent’s key', () => {
    test('of a descendant does not reach up, and one of another session does not reach here', async () => {
      const { own, child, foreign } = await places(parley())
      for (const of of [child, foreign]) {
        const as = bearer(await keyOf(parley(), 'agent', of.session_id))
        for (const row of TOOLS.filter((row) => !NAMES_NOTHING.has(row))) await expectBoth(parley(), row, () => ABOUT[row]!(own), as, 404)
      }
    })

    test('answers about what it does not reach as about what does not exist', async () => {
      const { own, foreign } = await places(parley())
      const as = bearer(await keyOf(parley(), 'agent', own.session_id))
      const unknown = Object.fromEntries(Object.keys(foreign).map((field) => [field, crypto.randomUUID()])) as unknown as Place
      for (const row of TOOLS.filter((row) => !NAMES_NOTHING.has(row))) {
        const [tool, said] = [row.slice('control.'.length), [] as (string | undefined)[]]
        for (const place of [foreign, unknown]) said.push((await overRest(parley(), tool, ABOUT[row]!(place), as)).message)
        expect([row, said[0]]).toEqual([row, said[1]])
      }
    })

    test('ends with its task', async () => {
      const { runner } = await places(parley())
      const task = await runner.takeOne()
      const as = bearer(task.agent_key)
      expect((await overRest(parley(), 'get_session', { session_id: 'current' }, as)).status).toBe(200)
      await runner.print(task.task_id, [said('Done.')])
      await runner.finish(task.task_id, 'Done.')
      for (const row of TOOLS)
        expect([row, (await overRest(parley(), row.slice(8), { session_id: 'current' }, as)).status]).toEqual([row, 401])
      const over = await parley().send('/mcp/control', {
        body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
        headers: { ...as, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      })
      expect(over.status).toBe(401)
    })
  })

  describe('what is no good key', () => {
    test('none, an unknown, a misshapen one, and a team_id in its place: 401, and nothing is done [D1]', async () => {
      const { own, full } = await places(parley())
      const team = await done(viaRest(parley())('join_session', { session_id: own.session_id, team_name: 'Team' }))
      const before = await counts()
      const wrong = `${full.slice(0, -1)}${full.endsWith('0') ? '1' : '0'}`
      for (const headers of [
        {},
        bearer(wrong),
        bearer('ca_full_short'),
        bearer('ca_root_00000000000000000000000000000000'),
        { 'x-team-id': team.team_id },
        bearer(team.team_id),
        { 'x-team-id': full },
      ] as Record<string, string>[])
        for (const row of TOOLS) {
          const { status, code } = await overRest(parley(), row.slice(8), ABOUT[row]!(own), headers)
          expect([row, status, code]).toEqual([row, 401, 'unauthorized'])
        }
      for (const row of TOOLS) {
        expect([row, await overMcp(parley(), row.slice(8), ABOUT[row]!(own), {})]).toEqual([row, 'unauthorized'])
        expect([row, await overMcp(parley(), row.slice(8), { ...ABOUT[row]!(own), team_id: team.team_id }, {})]).toEqual([
          row,
          'unauthorized',
        ])
      }
      expect(await counts()).toEqual(before)
    })

    test('listing the tools needs none, and each has its row', async () => {
      expect(TOOLS).toHaveLength(operations.filter(({ toolset, restOnly }) => toolset === 'control' && !restOnly).length)
      expect((await (await parley().client('/mcp/control')).listTools()).tools.length).toBe(TOOLS.length)
    })

    test('a key in a query is refused, with the header and without, and nothing is done', async () => {
      const { own, full } = await places(parley())
      const before = await counts()
      for (const row of TOOLS)
        for (const headers of [{}, bearer(full)]) {
          const { status, code, message } = await overRest(
            parley(),
            `${row.slice(8)}?key=${full}`,
            ABOUT[row]!(own),
            headers as Record<string, string>,
          )
          expect([row, status, code]).toEqual([row, 400, 'secret_in_text'])
          expect(message).not.toContain(full)
        }
      expect(await counts()).toEqual(before)
    })

    test('a key in a text is refused and not stored', async () => {
      const { own, full } = await places(parley())
      const as = bearer(full)
      for (const [tool, input] of [
        ['send_prompt', { session_id: own.session_id, prompt: `use ${full}` }],
        ['update_session', { session_id: own.session_id, title: full }],
        ['create_session', { title: full }],
      ] as const)
        expect((await overRest(parley(), tool, input, as)).code).toBe('secret_in_text')
    })

    test('one that is revoked ends at once, a held call with it, at another instance too [D3]', async () => {
      const other = parley().engine === 'postgres' ? await parley().beside({}) : undefined
      const there = other ?? parley()
      const { own } = await places(parley())
      const key = await keyOf(parley(), 'full')
      const held = overRest(there, 'get_task', { task_id: own.task_id, timeout_ms: 20_000 }, bearer(key))
      const prompted = overRest(
        there,
        'send_prompt',
        { session_id: own.session_id, prompt: 'x', wait_for_completion: true, timeout_ms: 20_000 },
        bearer(key),
      )
      await soon('both are held', () => there.services.waiters.size >= 1)
      await Bun.sleep(200)
      const [{ id }] = (await parley().database.query<{ id: string }>('select id from keys where key_hash = $1', [sha256(key)])) as [
        { id: string },
      ]
      const from = performance.now()
      await revokeKey(parley().services, id)
      expect([(await held).status, (await prompted).status]).toEqual([401, 401])
      expect(performance.now() - from).toBeLessThan(15_000)
      for (const served of [parley(), there])
        for (const row of TOOLS)
          expect([row, (await overRest(served, row.slice(8), ABOUT[row]!(own), bearer(key))).status]).toEqual([row, 401])
      await other?.close()
    })
  })

  test('a person’s cookie does what a full key does', async () => {
    const { own, foreign } = await places(parley())
    const cookie = await cookieOf(parley(), { name: 'Robin', role: 'person' })
    for (const row of TOOLS)
      for (const place of [own, foreign]) {
        const { status } = await overRest(parley(), row.slice(8), ABOUT[row]!(place), { cookie })
        expect([row, status]).toEqual([row, opens('full', row) ? 200 : 403])
      }
    const reader = await cookieOf(parley(), { name: 'Robin', role: 'reader' })
    for (const row of TOOLS)
      expect([row, (await overRest(parley(), row.slice(8), ABOUT[row]!(own), { cookie: reader })).status]).toEqual([row, 401])
    for (const [name, path] of RUNNER) {
      const response = await parley().send(path, { body: '{}', headers: { cookie } })
      expect([name, response.status]).toEqual([name, 401])
    }
  })
})
