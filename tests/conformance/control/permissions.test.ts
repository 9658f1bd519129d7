// What agents ask permission for, and the people who answer.
import { expect, test } from 'bun:test'
import { askPermission } from '../../../src/control/runner/ask-permission.ts'
import { leaseJob } from '../../../src/control/runner/lease.ts'
import { callLine } from '../../../src/core/events/tool-call.ts'
import { permissionView } from '../../../src/pages/agents/permission-view.ts'
import { requestsByIds } from '../../../src/stores/control/watched.ts'
import { countWaiting, waitingRequests } from '../../../src/stores/records/waiting.ts'
import { controlScene, controlWith } from '../../support/control-scene.ts'
import { holdLock, waitingForLocks } from '../../support/held-lock.ts'
import { bearer } from '../../support/keys.ts'
import { cookieOf, done, onOneEngine, refused, soon, viaRest } from '../../support/parley.ts'

const WRITE = { tool_name: 'Write', text: 'Write notes.md', input: { file_path: 'notes.md' } }

onOneEngine(
  (parley) => {
    const scene = (more: Record<string, unknown> = {}) => controlScene(parley(), more)
    const asPerson = async (name: string, input: object) =>
      viaRest(parley())(`control.${name}`, { ...input }, { person: await cookieOf(parley(), { role: 'person', name: 'Nora' }) })

    const waitedFor21s = (request: string) =>
      parley().database.query(`update permission_requests set asked_at = asked_at - interval '21 s' where id = $1`, [request])

    test('a tool waits for a person, who allows it', async () => {
      const { runner, call, session_id, start, log } = await scene()
      const { task_id } = await start()
      await runner.takeOne()
      const ask = (timeout: number) => runner.call('ask_permission', { runner_id: runner.id, task_id, request_id: 'r1', ...WRITE, timeout })
      expect(await done(ask(0))).toEqual({ waiting: true })
      expect((await log()).at(-1)).toMatchObject({
        event: 'permission_asked',
        request_id: 'r1',
        task_id,
        tool_name: 'Write',
        text: 'Write notes.md',
        input: { file_path: 'notes.md' },
      })
      const waiting = ask(20)
      await refused(call('answer_permission', { session_id, request_id: 'r1', allow: true }), 'forbidden')
      expect(await done(asPerson('answer_permission', { session_id, request_id: 'r1', allow: true, message: 'Once.' }))).toEqual({
        answered: true,
      })
      expect(await done(waiting)).toEqual({ allow: true, message: 'Once.' })
      expect((await log()).at(-1)).toMatchObject({
        event: 'permission_decided',
        by: 'Nora',
        request_id: 'r1',
        allow: true,
        message: 'Once.',
      })
      await refused(asPerson('answer_permission', { session_id, request_id: 'r1', allow: false }), 'conflict')
      await refused(asPerson('answer_permission', { session_id, request_id: 'unknown', allow: false }), 'not_found')
      expect(await done(ask(0))).toEqual({ allow: true, message: 'Once.' })
    })

    test('a person sees the whole of a long command; its event has the beginning', async () => {
      const { runner, session_id, start, log } = await scene()
      const { task_id } = await start()
      await runner.takeOne()
      const asked = async (request_id: string, input: object) => {
        const body = { runner_id: runner.id, task_id, request_id, tool_name: 'Bash', text: callLine('Bash', input), input, timeout: 0 }
        await done(runner.call('ask_permission', body))
        expect((await log()).at(-1).input.cut).toHaveLength(4_096)
        const [request] = await requestsByIds(parley().database, session_id, [request_id])
        return permissionView(request!, 2).text
      }
      const script = (lines: number) => `cat > x <<EOF\n${'line\n'.repeat(lines)}EOF\nrm -rf ~/x`
      expect(await asked('long', { command: script(1_000), description: 'Write x' })).toBe(`Bash: ${script(1_000)}`)
      const cut = await asked('longer', { command: script(10_000), description: 'Write x' })
      expect(cut).toMatch(/^Bash: cat > x <<EOF\nline\n[^]*\n\[… 41836 more characters, which are not shown\]$/)
      const ofRunner = `${'x'.repeat(16_384)}\n[… cut by the runner: 1,000,000 more]`
      expect(await asked('longest', { command: ofRunner })).toEndWith('\n[… 1008192 more characters, which are not shown]')
    })

    test('a question whose task has ended is told as such, not as one that nobody answered', async () => {
      const { runner, session_id, start, log } = await scene()
      const { task_id } = await start()
      await runner.takeOne()
      await done(runner.call('ask_permission', { runner_id: runner.id, task_id, request_id: 'r1', ...WRITE, timeout: 0 }))
      await runner.finish(task_id, undefined, { status: 'interrupted' })
      await leaseJob(parley().services).run()
      expect((await log()).at(-1)).toMatchObject({ event: 'permission_decided', by: 'the end of its task', allow: false })
      const [request] = await requestsByIds(parley().database, session_id, ['r1'])
      expect(permissionView(request!, 2)).toMatchObject({ decided: undefined, left: undefined, over: true })
    })

    test('an agent that wants more than it has is refused, a person is asked once, and allowed it may', async () => {
      const { runner, session_id, start, log } = await scene({ allow_bypass: true })
      await start()
      const { agent_key } = await runner.takeOne()
      const agent = controlWith(parley(), agent_key)
      const free = { title: 'Free', worktree_id: runner.worktree, permission_mode: 'bypassPermissions' }
      const { details } = await refused(agent('create_session', free), 'forbidden')
      expect((await refused(agent('create_session', free), 'forbidden')).details).toEqual(details)
      expect((await log()).at(-1)).toMatchObject({
        event: 'permission_asked',
        request_id: details.request_id,
        raise: { session_id, from: 'acceptEdits', to: 'bypassPermissions' },
      })
      await done(agent('create_session', { ...free, permission_mode: 'plan' }))
      await done(asPerson('answer_permission', { session_id, request_id: details.request_id, allow: true }))
      await done(agent('create_session', free))
    })

    test('what an agent was answered it is answered again by its key, also when it may have less by now, and nobody is asked', async () => {
      const { runner, session_id, start, log } = await scene()
      await start()
      const agent = controlWith(parley(), (await runner.takeOne()).agent_key)
      const calls = [
        ['create_session', { title: 'Child', worktree_id: runner.worktree, permission_mode: 'acceptEdits', idempotency_key: 'child' }],
        ['send_prompt', { session_id, prompt: 'Go.', mode: 'subsession', permission_mode: 'acceptEdits', idempotency_key: 'prompt' }],
        ['update_session', { session_id, permission_mode: 'acceptEdits', idempotency_key: 'update' }],
      ] as const
      const answers: unknown[] = []
      for (const [name, input] of calls) answers.push(await done(agent(name, input)))
      await done(asPerson('update_session', { session_id, permission_mode: 'plan' }))
      const before = await log()
      for (const [i, [name, input]] of calls.entries()) expect(await done(agent(name, input))).toEqual(answers[i] as object)
      expect(await log()).toEqual(before)
      for (const [name, input] of calls) await refused(agent(name, { ...input, idempotency_key: `other ${name}` }), 'forbidden')
    })

    test('what a person takes from an agent while its call waits for the session is not taken back by that call', async () => {
      const { database } = parley()
      if (database.engine === 'pglite') return // has one transaction at a time
      const { runner, session_id, start } = await scene()
      await start()
      const agent = controlWith(parley(), (await runner.takeOne()).agent_key)
      const lowered = `update sessions set permission_mode = 'plan' where id = '${session_id}'`
      const calls = [
        ['update_session', { session_id, permission_mode: 'acceptEdits' }],
        ['send_prompt', { session_id, prompt: 'Go.', mode: 'subsession', permission_mode: 'acceptEdits' }],
      ] as const
      for (const [name, input] of calls) {
        await database.query(`update sessions set permission_mode = 'acceptEdits' where id = $1`, [session_id])
        const release = await holdLock(database, lowered)
        const refusal = refused(agent(name, input), 'forbidden')
        await soon('it waits', async () => (await waitingForLocks(database)) === 1)
        await release()
        expect((await refusal).message).toContain('A person has just lowered')
      }
    })

    test('nobody is asked for a raise of what is concluded', async () => {
      const { runner, session_id, start, log } = await scene({ allow_bypass: true })
      await start()
      const { agent_key } = await runner.takeOne()
      const agent = controlWith(parley(), agent_key)
      const part = { session_id, prompt: 'Go.', mode: 'subsession', permission_mode: 'plan' }
      const child = (await done(agent('send_prompt', part))).session_id as string
      const conclusion = { session_id: child, summary_section: 'Done.' }
      await done(viaRest(parley())('conclude_session', conclusion, { headers: bearer(agent_key) })) // its convener
      const before = await log()
      await refused(agent('update_session', { session_id: child, permission_mode: 'bypassPermissions' }), 'session_closed')
      expect(await log()).toEqual(before)
    })

    test('a raise that an archived session has asked for waits for nobody, until that is brought back', async () => {
      const { runner, session_id, start } = await scene({ allow_bypass: true })
      await start()
      const agent = controlWith(parley(), (await runner.takeOne()).agent_key)
      const before = await countWaiting(parley().database, 120)
      const free = { title: 'Free', worktree_id: runner.worktree, permission_mode: 'bypassPermissions' }
      const { details } = await refused(agent('create_session', free), 'forbidden')
      const waits = async () => {
        const { database } = parley()
        const listed = (await waitingRequests(database, 120, 200)).some(({ id }) => id === details.request_id)
        return [listed, (await countWaiting(database, 120)) - before]
      }
      expect(await waits()).toEqual([true, 1])
      await done(asPerson('manage_session', { session_id, action: 'delete' }))
      expect(await waits()).toEqual([false, 0])
      await done(asPerson('manage_session', { session_id, action: 'start' }))
      expect(await waits()).toEqual([true, 1])
    })

    test('a raise that was allowed holds until a person gives less, also to an agent that gave up more itself: then a person is asked anew', async () => {
      const { runner, session_id, start } = await scene({ allow_bypass: true })
      await start()
      const agent = controlWith(parley(), (await runner.takeOne()).agent_key)
      const raised = { session_id, permission_mode: 'bypassPermissions' }
      const asked = new Set()
      for (const before of ['bypassPermissions', 'plan']) {
        const { details } = await refused(agent('update_session', raised), 'forbidden')
        asked.add(details.request_id)
        await done(asPerson('answer_permission', { session_id, request_id: details.request_id, allow: true }))
        await done(agent('update_session', raised))
        await done(agent('update_session', { session_id, permission_mode: 'plan' }))
        await done(agent('update_session', raised))
        await done(agent('update_session', { session_id, permission_mode: before }))
        await done(asPerson('update_session', { session_id, permission_mode: 'acceptEdits' }))
      }
      asked.add((await refused(agent('update_session', raised), 'forbidden')).details.request_id)
      expect(asked.size).toBe(3)
    })

    test('a raise that a person denies raises nothing: its agent hears their word, and may ask for it again in its next task', async () => {
      const { runner, session_id, start, log } = await scene({ allow_bypass: true })
      const { task_id } = await start()
      const agent = controlWith(parley(), (await runner.takeOne()).agent_key)
      const free = { title: 'Free', worktree_id: runner.worktree, permission_mode: 'bypassPermissions' }
      const { details, message } = await refused(agent('create_session', free), 'forbidden')
      expect(message).toEndWith("permission_decided in this session's feed says what came of it.")
      const { request_id } = details
      await done(asPerson('answer_permission', { session_id, request_id, allow: false, message: 'Not on this machine.' }))
      const decided = await log()
      expect(decided.at(-1)).toMatchObject({ event: 'permission_decided', request_id, allow: false, message: 'Not on this machine.' })
      const again = await refused(agent('create_session', free), 'forbidden')
      expect(again.message).toContain('Nora denied it: "Not on this machine."')
      expect(again.details).toEqual({ request_id })
      expect(await log()).toEqual(decided)
      await runner.finish(task_id)
      await start()
      const next = controlWith(parley(), (await runner.takeOne()).agent_key)
      expect((await refused(next('create_session', free), 'forbidden')).details.request_id).not.toBe(request_id)
    })

    test('a raise that nobody answers in time is denied, and may be asked for again', async () => {
      const { runner, session_id, start, log } = await scene({ allow_bypass: true })
      await start()
      const agent = controlWith(parley(), (await runner.takeOne()).agent_key)
      const raised = { session_id, permission_mode: 'bypassPermissions' }
      const { request_id } = (await refused(agent('update_session', raised), 'forbidden')).details
      const job = leaseJob(parley().services)
      await job.run()
      await waitedFor21s(request_id)
      await job.run()
      expect((await log()).at(-1)).toMatchObject({ event: 'permission_decided', request_id, by: 'nobody', allow: false })
      await refused(asPerson('answer_permission', { session_id, request_id, allow: true }), 'conflict')
      expect((await refused(agent('update_session', raised), 'forbidden')).details.request_id).not.toBe(request_id)
    })

    test('what was asked before its server stopped, or slept, waits as long once more: nobody could answer meanwhile', async () => {
      const { services, database } = parley()
      const { runner, start } = await scene()
      const { task_id } = await start()
      await runner.takeOne()
      const request_id = crypto.randomUUID()
      const ask = () => done(runner.call('ask_permission', { runner_id: runner.id, task_id, request_id, ...WRITE, timeout: 0 }))
      const isInInbox = async () => (await waitingRequests(database, 20, 200)).some(({ id }) => id === request_id)
      expect(await ask()).toEqual({ waiting: true })
      await waitedFor21s(request_id)
      expect(await ask()).toEqual({ waiting: true })
      const job = leaseJob(services)
      await job.run()
      expect([await ask(), await isInInbox()]).toEqual([{ waiting: true }, true])
      await waitedFor21s(request_id)
      await job.run()
      expect([await ask(), await isInInbox()]).toEqual([
        { allow: false, unanswered: true, message: expect.stringContaining('No person answered') },
        false,
      ])
    })

    test('what its runner forbids is refused without asking', async () => {
      const { runner, start, log } = await scene()
      await start()
      const { agent_key } = await runner.takeOne()
      const before = (await log()).length
      const { details } = await refused(
        controlWith(parley(), agent_key)('create_session', { title: 'Free', worktree_id: runner.worktree, permission_mode: 'allow-all' }),
        'forbidden',
      )
      expect(details.request_id).toBeUndefined()
      expect(await log()).toHaveLength(before)
    })

    test('whatever a CLI calls its request is stored and found again', async () => {
      const { runner, session_id, start, log } = await scene()
      const { task_id } = await start()
      await runner.takeOne()
      for (const request_id of ['a\0b', 'half \ud800', '\udc00 "{}']) {
        const ask = () => runner.call('ask_permission', { runner_id: runner.id, task_id, request_id, ...WRITE, timeout: 0 })
        expect(await done(ask())).toEqual({ waiting: true })
        const asked = (await log()).at(-1)
        expect(await done(ask())).toEqual({ waiting: true })
        expect((await log()).at(-1)).toEqual(asked)
        await done(asPerson('answer_permission', { session_id, request_id: asked.request_id, allow: true }))
        expect(await done(ask())).toEqual({ allow: true, message: null })
      }
    })

    test('a question whose session is purged while it is held is refused as one of a task that is not there', async () => {
      const { services } = parley()
      const call = { signal: () => services.stopping }
      const asked = { runner_id: 'r', task_id: crypto.randomUUID(), request_id: 'r1', ...WRITE, timeout: 0 }
      const answer = askPermission.afterwards!({ services, call } as never, { waiting: true }, asked)
      await expect(answer).rejects.toMatchObject({ code: 'not_found' })
    })

    test('a secret in what is asked reaches no log', async () => {
      const { runner, start, log, key } = await scene()
      const { task_id } = await start()
      await runner.takeOne()
      await done(
        runner.call('ask_permission', {
          runner_id: runner.id,
          task_id,
          request_id: 'r1',
          tool_name: 'Bash',
          text: `echo ${key}`,
          input: { command: `echo ${key}` },
          timeout: 0,
        }),
      )
      expect(JSON.stringify(await log())).not.toContain(key)
    })
  },
  { PERMISSION_WAIT: '20' },
)

onOneEngine(
  (parley) => {
    test('nobody answers in time: denied, and the agent is told so', async () => {
      const { runner, start, log } = await controlScene(parley())
      const { task_id } = await start()
      await runner.takeOne()
      const job = leaseJob(parley().services)
      await job.run()
      const asking = runner.call('ask_permission', { runner_id: runner.id, task_id, request_id: 'r1', ...WRITE, timeout: 20 })
      await soon('it is denied', async () => (await job.run(), (await log()).at(-1).event === 'permission_decided'))
      expect(await done(asking)).toEqual({ allow: false, unanswered: true, message: expect.stringContaining('No person answered') })
      expect((await log()).at(-1)).toMatchObject({ event: 'permission_decided', by: 'nobody', allow: false })
    })

    test('where agents may raise themselves nobody is asked, and what its runner forbids stays forbidden', async () => {
      for (const allow_bypass of [true, false]) {
        const { runner, session_id, start, log } = await controlScene(parley(), { allow_bypass })
        await start()
        const agent = controlWith(parley(), (await runner.takeOne()).agent_key)
        const raise = (permission_mode: string) => agent('update_session', { session_id, permission_mode })
        const child = { title: 'Free', worktree_id: runner.worktree, permission_mode: 'bypassPermissions' }
        await done(agent('update_session', { session_id, permission_mode: 'plan' }))
        await done(raise('acceptEdits'))
        for (const call of [() => raise('bypassPermissions'), () => agent('create_session', child)])
          if (allow_bypass) await done(call())
          else expect((await refused(call(), 'forbidden')).details.request_id).toBeUndefined()
        expect((await log()).filter(({ event }) => event === 'permission_asked')).toEqual([])
      }
    })
  },
  { PERMISSION_WAIT: '2', SELF_RAISE: 'allow' },
)
