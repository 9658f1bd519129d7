// Events of a transcript that have the name of one of ours, and anything in their fields: every page and answer shows them somehow.
import { describe, expect, test } from 'bun:test'
import { toolsets } from '../../src/toolsets.ts'
import { askOverRest, indexed } from '../support/history.ts'
import { onOneEngine } from '../support/parley.ts'

const VALUES: [string, unknown][] = [
  ['null', null],
  ['a number', 5],
  ['true', true],
  ['a list of nothing', [null]],
  ['a list of lists', [[{}]]],
  ['what no String() takes', { toString: 1, valueOf: 2 }],
  ['a list of that', [{ title: { toString: 1 }, item_id: { toString: 1 } }]],
  ['a text', 'x'.repeat(300)],
]
const KINDS = toolsets.flatMap(({ eventKinds = [] }) => eventKinds)

/** An export of a session whose events hold the value wherever one may stand. `last`: its last event. */
const transcriptOf = (value: unknown, last: object) => {
  const events = [
    ...KINDS.map(({ name, fields }) => ({
      type: 'system',
      event: name,
      ...Object.fromEntries(Object.keys(fields).map((field) => [field, value])),
    })),
    { type: 'system', event: 'session_metadata_updated', changes: { title: { from: value, to: value }, description: value }, by: value },
    { type: 'system', event: value, by: value },
    { type: 'chat', team: value, content: { text: value, word: 'zebra' }, to: value, to_people: value, reply_to: value },
    { type: 'user_input', content: value, task_id: value, prompted_by: value, expects_reply: true },
    { type: 'chat', content: { text: 'zebra' }, task_id: 'a task', prompted_by: { kind: 'person', name: value, session_id: value } },
    { type: 'assistant_response', content: { text: value, event: value } },
    { type: 'tool_call', tool_name: value, content: { arguments: value } },
    { type: 'tool_call', content: { arguments: { command: value, path: value } } },
    { type: 'tool_response', content: { text: value, exit_code: value, is_error: value } },
    { type: 'runtime', content: { event: value, text: value } },
    last,
  ]
  const at = new Date().toISOString()
  return events.map((event, i) => `${JSON.stringify({ id: crypto.randomUUID(), sequence: i + 1, at, ...event })}\n`).join('')
}

onOneEngine((parley) => {
  describe.each(VALUES)('%s', (_, value) => {
    test.each([
      ['a system event', { type: 'system', event: 'work_planned', items: value, by: value }],
      ['a message', { type: 'chat', content: { text: value, word: 'zebra' } }],
    ])('in every field, at the end of %s', async (_, last) => {
      const response = await parley().send('/api/traces?name=feed.jsonl', { body: transcriptOf(value, last) })
      const { session_id: id } = (await response.json()) as { session_id: string }
      expect(response.status).toBe(200)
      await indexed(parley())
      const turns = (await (await parley().send(`/sessions/${id}/turns`)).text()).matchAll(/\/turns\/(\d+)/g)
      const paths = [
        '/',
        '/search?q=zebra',
        `/api/sessions/${id}/handoff.md`,
        ...['', '.md', '/feed.jsonl', '/turns', '/history', '/rows?before=9', '/rows?after=0&until=99'].map(
          (part) => `/sessions/${id}${part}`,
        ),
        ...[...new Set([...turns].map(([, turn]) => turn))].map((turn) => `/sessions/${id}/turns/${turn}`),
      ]
      for (const path of paths) {
        const answer = await parley().send(path, { headers: { accept: 'text/html' } })
        await answer.text()
        expect([path, answer.status < 400]).toEqual([path, true])
      }
      const asked = [
        await askOverRest(parley())('search_sessions', { query: 'zebra' }),
        await askOverRest(parley())('open', { id }),
        await askOverRest(parley())('open', { id, turn: 1 }),
      ]
      for (const { error } of asked) expect(error?.code ?? 'none').not.toBe('internal_error')
    })
  })
})
