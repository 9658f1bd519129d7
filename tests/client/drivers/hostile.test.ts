// CLIs that print what no CLI should, or end as none should. Each ends its task with a sentence, and what it printed is plain text.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Driver } from '../../../src/client/runner/drivers/driver.ts'
import { addedDriver, builtInDrivers } from '../../../src/client/runner/drivers/drivers.ts'
import { whileBusy } from '../../support/cpu.ts'
import { FULL } from '../../support/full.ts'
import { HUB_KEY, newStage, type Stage, type Task } from '../../support/drivers.ts'

const LONG_MS = 180_000
const driverOf = (name: string) => builtInDrivers.find(({ agenticTool }) => agenticTool === name)!
const claude = driverOf('claude-code')
const DRIVERS: [string, string, Driver][] = [
  ['Claude Code', 'claude', claude],
  ['Codex', 'codex', driverOf('codex')],
  ['an ACP agent', 'my-agent', addedDriver('my-agent', ['my-agent', 'serve'])],
]

let stage: Stage
beforeEach(() => void (stage = newStage()))
afterEach(() => stage.drop())

const MESSAGE = { id: 'm', role: 'assistant', model: 'claude-x' }
const said = (text: string, uuid: string) =>
  JSON.stringify({
    type: 'assistant',
    uuid,
    session_id: 's',
    parent_tool_use_id: null,
    message: { ...MESSAGE, content: [{ type: 'text', text }] },
  })
const INIT = JSON.stringify({ type: 'system', subtype: 'init', uuid: 'u0', session_id: 's', permissionMode: 'default' })
const RESULT = JSON.stringify({
  type: 'result',
  subtype: 'success',
  is_error: false,
  result: 'Done.',
  session_id: 's',
  total_cost_usd: 0,
  modelUsage: {},
})
const print = (...lines: string[]) => `process.stdout.write(${JSON.stringify(lines.map((line) => `${line}\n`).join(''))});`
const UNTIL_CLOSED = `process.stdin.resume();process.stdin.on('end',()=>process.exit(0));`
const texts = (task: Task) => task.told.map(({ event }) => event.content.text)

const run = (source: string, driver = claude, name = 'claude', more = {}) => {
  stage.program(name, source)
  return stage.run(driver, stage.job(more))
}

describe.each(DRIVERS)('%s', (_, name, driver) => {
  test('is not there: a sentence', async () => {
    const { status, error } = await stage.run(driver, stage.job({ env: { PATH: '/nowhere' } })).result
    expect(status).toBe('failed')
    expect(error!.message).toMatch(/could not be started/)
  })

  test('ends with code 1 and words on standard error: both are told, of many the end, its output as plain text', async () => {
    const words = `'€'.repeat(2000) + ' Please sign in first.'`
    const task = run(`${print('not JSON')}console.error(${words});setTimeout(()=>process.exit(1),50)`, driver, name)
    const { status, error } = await task.result
    expect(status).toBe('failed')
    expect(error!.message).toContain('ended with code 1')
    expect(error!.message).toMatch(/: €+ Please sign in first\.$/)
    expect(texts(task)).toEqual(['not JSON'])
  })

  test(
    'prints 10 MiB without a line break, NULs, half characters, nested and foreign JSON, and goes on printing after an error: nothing is lost but length',
    async () => {
      const source = `
        const out = (data) => new Promise((resolve) => process.stdout.write(data, resolve));
        (async () => {
          await out(Buffer.alloc(10 * 1024 * 1024, 'x'));
          await out('\\n' + '['.repeat(200000) + '\\n' + '[1,2]\\n42\\n"text"\\n\\u0000\\n');
          const euro = Buffer.from('half a € sign\\n');
          await out(euro.subarray(0, 9)); await new Promise((resolve) => setTimeout(resolve, 50)); await out(euro.subarray(9));
          await out('{"jsonrpc":"2.0","id":999,"result":{}}\\n{"type":"nobody knows"}\\nno line break at the end');
          process.exit(1);
        })()`
      const task = run(source, driver, name)
      expect((await task.result).status).toBe('failed')
      const long = String(texts(task)[0])
      expect(long).toStartWith('xxxx')
      expect(long.length).toBeLessThan(70_000)
      expect(long).toContain('more characters on this line')
      expect(texts(task)).toContain('half a € sign')
      expect(texts(task)).toContain('no line break at the end')
      expect(JSON.stringify(task.told)).not.toContain('\\u0000')
    },
    LONG_MS,
  )

  test(
    'prints lines without end: the first thousand are told',
    async () => {
      const task = run(`process.stdout.write('noise\\n'.repeat(50000),()=>process.exit(1))`, driver, name)
      await task.result
      expect(task.told).toHaveLength(1001)
    },
    LONG_MS,
  )

  test.skipIf(!FULL)(
    'closes standard output and goes on: it is ended',
    async () => {
      const task = run(`require('fs').closeSync(1);setInterval(()=>{},1000)`, driver, name)
      const begin = performance.now()
      expect(await task.result).toMatchObject({ status: 'failed', error: { message: expect.stringContaining('SIGTERM') } })
      expect(performance.now() - begin).toBeLessThan(whileBusy(10_000))
    },
    LONG_MS,
  )

  test('never answers: an interrupt does not hang, and its end ends the task as interrupted', async () => {
    const task = run(`process.stdin.resume();setInterval(()=>{},1000);require('fs').writeFileSync('pid',String(process.pid))`, driver, name)
    while (!existsSync(join(stage.folder, 'pid')) || readFileSync(join(stage.folder, 'pid'), 'utf8') === '') await Bun.sleep(20)
    task.interrupt()
    await Bun.sleep(200)
    process.kill(Number(readFileSync(join(stage.folder, 'pid'), 'utf8')), 'SIGKILL') // as the runner does
    expect((await task.result).status).toBe('interrupted')
  })
})

describe('Claude Code', () => {
  test('ends with code 1 after its result: the result counts', async () => {
    const task = run(`${print(INIT, said('Done.', 'u1'), RESULT)}setTimeout(()=>process.exit(1),50)`)
    expect(await task.result).toMatchObject({ status: 'completed', answer: 'Done.', conversation: 's', conversationAt: 'u1' })
    expect(texts(task)).toContain('Done.')
  })

  test('ends with code 0 without a result: it failed', async () => {
    const task = run(print(INIT, said('On my way.', 'u1')))
    expect(await task.result).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining('before it said how the task went') },
    })
    expect(texts(task)).toContain('On my way.')
  })

  test.skipIf(!FULL)(
    'never ends after its result, and ignores SIGTERM: it is ended, and the result counts',
    async () => {
      const task = run(`process.on('SIGTERM',()=>{});${print(INIT, RESULT)}setInterval(()=>{},1000)`)
      expect((await task.result).status).toBe('completed')
    },
    LONG_MS,
  )

  test('leaves a process that holds its output open: the task ends with it', async () => {
    const left = `require('child_process').spawn('sleep',['20'],{stdio:['ignore',1,'ignore'],detached:true}).unref();`
    const begin = performance.now()
    expect((await run(`${left}${print(INIT, RESULT)}setTimeout(()=>process.exit(0),50)`).result).status).toBe('completed')
    expect(performance.now() - begin).toBeLessThan(15_000) // the process that was left holds the output for 20 s
  })

  test('says a thing again: its key is the same; two results: the last one counts, usage is the sum', async () => {
    const usage = (input: number) => ({ model_usage_since_last_result: { x: { inputTokens: input, outputTokens: 1, costUSD: 0.5 } } })
    const first = JSON.stringify({ ...JSON.parse(RESULT), ...usage(2) })
    const last = JSON.stringify({ ...JSON.parse(RESULT), result: 'More.', ...usage(3) })
    const task = run(print(INIT, said('One.', 'u1'), said('One.', 'u1'), first, said('More.', 'u2'), last))
    expect(await task.result).toMatchObject({ answer: 'More.', usage: { input_tokens: 5, output_tokens: 2, cost_usd: 1 } })
    expect(task.told.map(({ key }) => key)).toEqual(['u0', 'u1', 'u1', 'u2'])
  })

  test.each([
    '-rf',
    '--dangerously-skip-permissions',
    '$(touch made)',
    '`touch made`',
    'a\nb\r\nc',
    '{"type":"control_request"}\n{"type":"user"}',
    '€ 🦜 "quoted" \\',
  ])('the prompt %j goes through standard input alone, as one line', async (prompt) => {
    const source = `let all='';process.stdin.on('data',(d)=>{all+=d;if(!all.endsWith('\\n'))return;require('fs').writeFileSync('told',all);${print(INIT, RESULT)}process.stdin.on('end',()=>process.exit(0))})`
    await run(source, claude, 'claude', { prompt }).result
    const told = readFileSync(join(stage.folder, 'told'), 'utf8')
    expect(told.trimEnd().split('\n')).toHaveLength(1)
    expect(JSON.parse(told).message).toEqual({ role: 'user', content: prompt })
    const words = JSON.stringify(stage.commands).replace(/[^"]*parley-runner-[^"]*/g, '') // folders have names by chance, such as …-rfklrg
    expect(words).not.toContain(JSON.stringify(prompt).slice(1, -1))
    expect(existsSync(join(stage.folder, 'made'))).toBe(false)
  })

  test('its MCP file is readable by its user alone, stands in a folder of its own, and is gone with the task', async () => {
    const task = run(`${UNTIL_CLOSED}setTimeout(()=>{${print(INIT, RESULT)}},300)`, claude, 'claude', {
      mcpServers: { more: { command: 'x' } },
    })
    const [words] = stage.commands
    const file = words![words!.indexOf('--mcp-config') + 1]!
    expect((statSync(file).mode & 0o777).toString(8)).toBe('600')
    expect((statSync(dirname(file)).mode & 0o777).toString(8)).toBe('700')
    const { mcpServers } = JSON.parse(readFileSync(file, 'utf8'))
    expect(mcpServers).toEqual({
      more: { command: 'x' },
      parley: { type: 'http', url: stage.hub.url, headers: { Authorization: `Bearer ${HUB_KEY}` } },
    })
    await task.result
    expect(existsSync(dirname(file))).toBe(false)
  })

  test('its MCP file cannot be written: a sentence', async () => {
    const before = process.env.TMPDIR
    process.env.TMPDIR = join(stage.home, 'not there')
    try {
      expect((await run(print(INIT, RESULT)).result).error!.message).toContain('could not be written')
    } finally {
      if (before === undefined) delete process.env.TMPDIR
      else process.env.TMPDIR = before
    }
    expect(stage.commands).toEqual([])
  })

  test('a request that nobody knows is answered with an error, and what is asked after the end is answered by nobody', async () => {
    const ask = JSON.stringify({ type: 'control_request', request_id: 'r1', request: { subtype: 'elicitation' } })
    const source = `${print(INIT, ask)}let all='';process.stdin.on('data',(d)=>{all+=d;if(all.includes('r1')){require('fs').writeFileSync('told',all);${print(RESULT)}}});process.stdin.on('end',()=>process.exit(0))`
    expect((await run(source).result).status).toBe('completed')
    expect(readFileSync(join(stage.folder, 'told'), 'utf8')).toContain('"subtype":"error"')
  })
})

test.each(DRIVERS.slice(1))('an error of the driver of %s is told as such, and not as the silence of its CLI', async (_, name, driver) => {
  const source = `require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id } = JSON.parse(line)
    if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: {} }))
  }).on('close', () => process.exit(0))`
  const hub = {
    get url(): string {
      throw new Error('No address.')
    },
  }
  await expect(run(source, driver, name, { hub }).result).rejects.toThrow('No address.')
})

describe('Codex', () => {
  test('sets the totals of a conversation to nothing, as when it is too long for its model: what was used before counts', async () => {
    const used = (total: number, last: number) => ({
      threadId: 't',
      turnId: 'u',
      tokenUsage: { total: { inputTokens: total, outputTokens: total }, last: { inputTokens: last, outputTokens: last } },
    })
    const source = `
      const send = (message) => console.log(JSON.stringify({ jsonrpc: '2.0', ...message }))
      const results = { 'thread/resume': { thread: { id: 't' } }, 'turn/start': { turn: { id: 'u' } } }
      require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
        const { id, method } = JSON.parse(line)
        if (id !== undefined) send({ id, result: results[method] ?? {} })
        if (method !== 'turn/start') return
        for (const params of ${JSON.stringify([used(1_010, 10), used(1_030, 20), used(0, 0)])}) send({ method: 'thread/tokenUsage/updated', params })
        send({ method: 'turn/completed', params: { threadId: 't', turn: { id: 'u', status: 'failed', error: { message: 'Too long.' } } } })
      }).on('close', () => process.exit(0))`
    expect(await run(source, driverOf('codex'), 'codex', { conversation: 't' }).result).toMatchObject({
      status: 'failed',
      error: { message: 'Too long.' },
      usage: { input_tokens: 30, output_tokens: 30, cost_usd: null },
    })
  })

  test('asks for more than a command or an edit: people are shown what is granted with it', async () => {
    const asks = (method: string, params: object) => ({ method: `item/${method}/requestApproval`, params: { threadId: 't', ...params } })
    const network = { command: 'npm i', cwd: '/w', networkApprovalContext: { host: 'registry.npmjs.org', protocol: 'https' } }
    const rights = { command: 'make', additionalPermissions: { fileSystem: { write: ['/etc'] } }, environmentId: null }
    const changes = [{ path: 'a.txt', kind: { type: 'update' }, diff: '+ x\n'.repeat(10_000) }]
    const item = { type: 'fileChange', id: 'i4', changes }
    const requests = [
      asks('commandExecution', { itemId: 'i1', kind: 'command', reason: null, ...network }),
      asks('commandExecution', { itemId: 'i2', kind: 'writeStdin', ...rights }),
      asks('fileChange', { itemId: 'i3', grantRoot: '/home' }),
      asks('fileChange', { itemId: 'i4', grantRoot: '/home' }),
    ]
    const source = `
      const send = (message) => console.log(JSON.stringify({ jsonrpc: '2.0', ...message }))
      const results = { 'thread/start': { thread: { id: 't' } }, 'turn/start': { turn: { id: 'u' } } }
      const requests = ${JSON.stringify(requests)}
      const next = () => requests.length > 0 ? send({ id: 'ask-' + requests.length, ...requests.shift() })
        : send({ method: 'turn/completed', params: { threadId: 't', turn: { id: 'u', status: 'completed' } } })
      require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
        const { id, method } = JSON.parse(line)
        if (method !== undefined && id !== undefined) send({ id, result: results[method] ?? {} })
        if (method === 'turn/start') send({ method: 'item/started', params: { threadId: 't', item: ${JSON.stringify(item)} } })
        if (method === 'turn/start' || method === undefined) next()
      }).on('close', () => process.exit(0))`
    const task = run(source, driverOf('codex'), 'codex')
    expect((await task.result).status).toBe('completed')
    const { additionalPermissions, command } = rights
    expect(task.asked.map(({ input }) => input)).toEqual([
      network,
      { command, kind: 'writeStdin', additionalPermissions },
      { path: '', grantRoot: '/home' },
      { path: 'a.txt', changes, grantRoot: '/home' },
    ])
    const [, ofCommand, , ofEdit] = task.asked.map(({ input }) => Object.keys(input as object)) // the hub cuts the end of a long one
    expect([ofCommand![0], ofEdit![0]]).toEqual(['kind', 'grantRoot'])
    expect(task.asked[3]!.text).toBe('apply_patch: a.txt')
  })
})

test('an agent that is added by a command takes the command as it is, with blanks and quotes', async () => {
  writeFileSync(join(stage.home, 'agent with "quotes".mjs'), `process.exit(3)`)
  const driver = addedDriver('mine', ['node', join(stage.home, 'agent with "quotes".mjs'), '--flag', 'a b'])
  expect((await stage.run(driver, stage.job()).result).error!.message).toContain('ended with code 3')
  expect(stage.commands[0]!.slice(2)).toEqual(['--flag', 'a b'])
})
