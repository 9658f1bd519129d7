// What a task left in the log is what an import makes of the transcript that the program itself wrote of it.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { inTurn } from '../support/agents-script.ts'
import { allowingUntil, clientsAreThere, personAt, startControlSite, type ControlSite } from '../support/control-site.ts'

const CLIENTS = ['claude', 'codex', 'gemini']
const LONG_MS = 300_000
const areThere = clientsAreThere(...CLIENTS)
const WORK = new Set(['assistant_response', 'reasoning', 'tool_call', 'tool_response', 'compaction'])

describe.skipIf(!areThere)('The log of a task, and the transcript of it', () => {
  let at: ControlSite
  let robin: Awaited<ReturnType<typeof personAt>>

  beforeAll(async () => {
    at = await startControlSite({ clients: CLIENTS })
    robin = await personAt(at, 'Robin')
  }, LONG_MS)
  afterAll(() => at?.drop(), LONG_MS)

  const filesBelow = (...folder: string[]) =>
    readdirSync(at.site.path('home', ...folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.jsonl?$/.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name))
  const work = (events: any[]) =>
    events.filter(({ type }) => WORK.has(type)).map(({ type, content, tool_name, model }) => ({ type, content, tool_name, model }))
  const outline = (events: any[]) => work(events).map(({ type, tool_name }) => [type, tool_name])
  const imported = async (path: string) => {
    const answer = await fetch(`${at.url}/api/traces?name=transcript.jsonl`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson' },
      body: Bun.file(path),
    })
    const report = (await answer.json()) as any
    if (!answer.ok) throw new Error(JSON.stringify(report))
    const reader = await at.join({ session_id: report.session_id }, 'A reader')
    return (await at.call(`/${report.session_id}/messages?include_trace=true&limit=500`, undefined, reader.team_id)).messages
  }

  /** A session whose agent did two tasks, and its transcript as an import reads it. */
  const worked = async (agentic_tool: string, folder: string[], prompts: string[]) => {
    const { session_id } = await at.create({ agentic_tool, permission_mode: 'default' })
    at.agents.scripts.work = inTurn(
      { shell: 'echo hi; exit 3' },
      { write: join(at.site.app, `by-${agentic_tool}.txt`), content: 'hello' },
      { hub: 'list_tasks', input: { session_id } },
      { thought: 'It is there.', text: 'All done.' },
    )
    at.agents.scripts.more = inTurn({ shell: 'echo more' }, 'Done again.')
    for (const text of prompts) {
      const { task_id } = await at.prompt(session_id, text)
      await allowingUntil(at, robin, session_id, async () => (await at.control('get_task', { task_id })).task.ended_at, 'the task ends')
      expect(await at.ended(task_id)).toMatchObject({ status: 'completed' })
    }
    const file = filesBelow(...folder).find((path) => readFileSync(path, 'utf8').includes(prompts[0]!))
    return { told: await at.feed(session_id), transcript: await imported(file!) }
  }

  test.each([
    ['claude-code', ['.claude', 'projects']],
    ['codex', ['.codex', 'sessions']],
  ])(
    '%s: the same types, contents, tools and models, in the same order',
    async (agentic_tool, folder) => {
      const { told, transcript } = await worked(agentic_tool, folder, ['Work. #work', 'Go on. #more'])
      expect(work(told)).toEqual(work(transcript))
      expect(work(told).length).toBeGreaterThan(10)
    },
    LONG_MS,
  )

  test(
    'gemini: the same types and tools in the same order; inputs, outputs and the model are not in what it tells by its protocol',
    async () => {
      const { told, transcript } = await worked('gemini', ['.gemini', 'tmp'], ['Work. #work'])
      expect(outline(told)).toEqual(outline(transcript))
      expect(work(told).at(-1)!.content).toEqual(work(transcript).at(-1)!.content)
    },
    LONG_MS,
  )
})
