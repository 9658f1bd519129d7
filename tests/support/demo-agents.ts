// A session with an agent as people meet it, made by the calls that a person, a runner and agents make: for pictures and for tests of pages.
import { expect } from 'bun:test'
import { makeKey } from '../../src/control/keys/keys.ts'
import type { Services } from '../../src/process/services.ts'

interface Served {
  url: string
  services: Services
}

export interface TraceEvent {
  key?: string
  type: string
  content: Record<string, unknown>
  tool_name?: string
}

export type Agents = Awaited<ReturnType<typeof startAgents>>

const WORKTREE = {
  path: '/home/robin/parser',
  repo_full_name: 'acme/parser',
  branch: 'feature/spans',
  head: '3f9c2ab41d7e0c5b8a6f1e2d3c4b5a6978f0e1d2',
  dirty: true,
  changed_files: 3,
}
const OTHER = {
  path: '/home/robin/parser-docs',
  repo_full_name: 'acme/parser',
  branch: 'docs',
  head: '77aa01c9b2',
  dirty: false,
  changed_files: 0,
}

/** A key for everything, and a runner with two worktrees that does what it is told here. */
export const startAgents = async ({ url, services }: Served, runner: Record<string, unknown> = {}) => {
  const [full, run] = await Promise.all(['full', 'run'].map((scope) => makeKey(services, { scope, name: `CI of the parser`, by: 'Robin' })))
  const call = async <Answer = Record<string, any>>(path: string, body: object, key = full!): Promise<Answer> => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` }
    const response = await fetch(`${url}/api${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    const answer = (await response.json()) as Answer
    expect({ path, status: response.status, answer: response.ok || answer }).toMatchObject({ status: 200 })
    return answer
  }
  const registered = await call(
    '/runner/register',
    {
      name: 'robins-laptop',
      agents: [
        { agentic_tool: 'claude-code', version: '2.1.330' },
        { agentic_tool: 'codex', version: '0.157.0' },
      ],
      worktrees: [WORKTREE, OTHER],
      ...runner,
    },
    run,
  )
  const { runner_id } = registered as { runner_id: string }
  const [worktree, docs] = (registered.worktrees as { worktree_id: string }[]).map(({ worktree_id }) => worktree_id)
  const ofRunner = (name: string, body: object) => call(`/runner/${name}`, { runner_id, ...body }, run)
  let told = 0
  return {
    runner_id,
    worktree: worktree!,
    docs: docs!,
    full: full!,
    run: run!,
    /** Opens a session with an agent; returns its id. */
    create: async (more: Record<string, unknown> = {}): Promise<string> =>
      (await call('/control/create_session', { title: 'Empty files', worktree_id: worktree, ...more })).session_id,
    prompt: (session_id: string, prompt: string, more: Record<string, unknown> = {}, key?: string) =>
      call('/control/send_prompt', { session_id, prompt, ...more }, key),
    manage: (session_id: string, action: 'start' | 'stop' | 'delete') => call('/control/manage_session', { session_id, action }),
    /** Takes what there is to do. */
    take: async (): Promise<{ task_id: string; session_id: string; agent_key: string }[]> =>
      (await ofRunner('take', { running: [], timeout: 0 })).tasks,
    orders: async (running: string[]): Promise<{ order: string; task_id: string }[]> =>
      (await ofRunner('take', { running, timeout: 0 })).orders,
    tell: (task_id: string, events: TraceEvent[]) =>
      ofRunner('events', { task_id, events: events.map((event) => ({ key: `e${++told}`, ...event })) }),
    finish: (task_id: string, how: Record<string, unknown>) => ofRunner('finish', { task_id, ...how }),
    ask: (task_id: string, request_id: string, asked: { tool_name: string; text: string; input?: unknown }, timeout = 0) =>
      ofRunner('ask', { task_id, request_id, timeout, ...asked }),
  }
}

export const tool = (tool_name: string, given: Record<string, unknown>, text: string): TraceEvent[] => [
  { type: 'tool_call', tool_name, content: { arguments: given } },
  { type: 'tool_response', tool_name, content: { text } },
]

const ANSWER = `Done: the empty file parses to an empty tree, and a test says so.

| file | change |
| --- | --- |
| \`src/parser/tree.ts\` | an early return for no tokens |
| \`tests/parser/empty.test.ts\` | new |

All 43 tests pass.`

export interface AgentsDemo {
  /** A finished task, a failed one, one that asked a question, one that runs and asks permission, one that is queued; with two children and
   *  a fork. */
  session: string
  /** One of the children, whose agent failed for want of anybody who works there. */
  child: string
}

/** Fills a server with an agent's sessions. */
export const fillAgents = async (served: Served): Promise<AgentsDemo> => {
  const agents = await startAgents(served, { allow_bypass: true })
  const session = await agents.create({
    title: 'Empty files in the parser',
    description: 'The parser throws on a file without a token. Mend it, with a test, and say in the manual what it gives.',
    max_usd: 5,
  })
  /** Prompts, and has the runner take it. */
  const begin = async (prompt: string, more?: Record<string, unknown>) => {
    const { task_id, session_id } = await agents.prompt(session, prompt, more)
    await agents.take()
    return { task_id: task_id as string, session_id: session_id as string }
  }
  const first = await begin('The parser throws on an empty file. Find out why, mend it and add a test.')
  await agents.tell(first.task_id, [
    { type: 'reasoning', content: { text: 'The stack says tree.ts, line 41: the first token is read before it is looked for.' } },
    ...tool('Grep', { pattern: 'tokens\\[0\\]', path: 'src' }, 'src/parser/tree.ts:41:  const begin = tokens[0].span'),
    ...tool('Read', { file_path: 'src/parser/tree.ts' }, '41  const begin = tokens[0].span'),
    ...tool(
      'Edit',
      { file_path: 'src/parser/tree.ts', old_string: 'const begin', new_string: 'if (tokens.length === 0) return EMPTY' },
      'Updated.',
    ),
    ...tool('Bash', { command: 'npm test' }, '43 pass\n0 fail'),
    { type: 'assistant_response', content: { text: ANSWER } },
  ])
  await agents.finish(first.task_id, {
    status: 'completed',
    answer: ANSWER,
    conversation: 'c-1',
    usage: { input_tokens: 182_400, output_tokens: 9_310, cost_usd: 0.84 },
    changes: { files: 2, added: 31, removed: 2 },
  })
  const manual = await begin('Now write it into the manual.', {
    mode: 'subsession',
    title: 'The manual: empty files',
    permission_mode: 'plan',
  })
  const generated = await begin('The same for the generated parser, to compare.', {
    mode: 'fork',
    title: 'Empty files in the generated parser',
  })
  await agents.tell(generated.task_id, tool('Bash', { command: 'git switch generated' }, 'Switched.'))
  const second = await begin('Publish a release candidate.')
  await agents.tell(second.task_id, tool('Bash', { command: 'npm publish --tag next' }, 'npm error code ENEEDAUTH'))
  await agents.finish(second.task_id, {
    status: 'failed',
    error: { code: 'agent_failed', message: 'Claude Code ended with code 1: you are not logged in to the registry.' },
  })
  const third = await begin('Then prepare the change log only.')
  await agents.finish(third.task_id, { status: 'interrupted', ...(await questionOf(agents, third.task_id)) })
  const fourth = await begin('Only what changed since 3.9. Then run the whole suite, and drop the old fixtures.')
  await agents.tell(fourth.task_id, [
    ...tool('Bash', { command: 'git log --oneline v3.9..' }, '3f9c2ab Parser: an empty file is an empty tree'),
    ...tool('Write', { file_path: 'CHANGELOG.md', content: '## 3.10' }, 'Written.'),
    { type: 'tool_call', tool_name: 'Bash', content: { arguments: { command: 'npm test' } } },
  ])
  await agents.ask(fourth.task_id, 'req-1', {
    tool_name: 'Bash',
    text: 'rm -r fixtures/v2',
    input: { command: 'rm -r fixtures/v2', description: 'Drop the old fixtures' },
  })
  await agents.prompt(session, 'Say in two lines what you did, for the release mail.')
  await agents.prompt(session, 'And open a draft of it.')
  return { session, child: manual.session_id }
}

const questionOf = async (agents: Agents, task: string) => {
  const input = {
    questions: [{ question: 'From which version on?', options: [{ label: 'Since 3.9' }, { label: 'Since 3.0, as a summary' }] }],
  }
  await agents.tell(task, [{ key: 'asks', type: 'tool_call', tool_name: 'AskUserQuestion', content: { arguments: input } }])
  return { interrupted_by: 'asks' }
}
