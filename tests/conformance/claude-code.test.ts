import { expect } from 'bun:test'
import { join } from 'node:path'
import { test } from '../support/foreign.ts'
import { done, onOneEngine, say, seat, soon, viaRest } from '../support/parley.ts'

// The requests of Claude Code 2.1.330 from its start to the end of a session, recorded in front of this server; session and team_id are
// left out, since they are new each time. The real program is tried in tests/e2e/claude-code.test.ts.
const RECORDED = join(import.meta.dir, '../data/claude-code-2.1.330-requests.jsonl')

interface Recorded {
  headers: Record<string, string>
  body: { id: string | number; method: string; params: { name?: string } }
}

onOneEngine((parley) => {
  test('every request that Claude Code 2.1.330 sends in a session is answered with a result, and its first one with all that it must know', async () => {
    const curl = viaRest(parley())
    let session = ''
    let team = ''
    const sent = async (line: string) => {
      const { headers, body } = JSON.parse(line.replace('$SESSION', session).replace('$TEAM', team)) as Recorded
      const response = await parley().send('/mcp', { method: 'POST', headers, body: JSON.stringify(body) })
      const text = await response.text()
      const answer = JSON.parse([...text.matchAll(/^data: (.*)$/gm)].at(-1)?.[1] ?? text)
      expect(response.status, text).toBe(200)
      expect(answer, line).toMatchObject({ id: body.id, result: { resultType: 'complete' } })
      expect(answer.result.isError, text).toBeUndefined()
      return answer.result
    }
    const [discover, prompts, resources, tools, create, joined, heard, post, conclude, ...more] = (await Bun.file(RECORDED).text())
      .trim()
      .split('\n')
    expect(more).toEqual([])
    expect((await sent(discover!)).supportedVersions).toContain('2026-07-28')
    expect((await sent(prompts!)).prompts).not.toBeEmpty()
    expect((await sent(resources!)).resources).toBeArray()
    expect((await sent(tools!)).tools).not.toBeEmpty()
    ;({ session_id: session, team_id: team } = (await sent(create!)).structuredContent)

    const whileHeld = async <Result>(wait: string, act: () => Promise<Result>) => {
      const pending = sent(wait)
      await soon('it is held', () => parley().services.waits.held === 1)
      return [await act(), (await pending).structuredContent] as const
    }
    const [bea, first] = await whileHeld(joined!, async () =>
      seat(curl, await done(curl('join_session', { session_id: session, team_name: 'Bea' }))),
    )
    expect(first).toMatchObject({ messages: [{ event: 'team_joined', team: 'Bea' }], next_cursor: 1 })
    const [, second] = await whileHeld(heard!, () => say(bea, 'I take the lexer.'))
    expect(second).toMatchObject({ messages: [{ content: { text: 'I take the lexer.' } }], next_cursor: 2 })
    expect((await sent(post!)).structuredContent).toMatchObject({ cursor: 3 })
    expect((await sent(conclude!)).structuredContent).toMatchObject({ session_id: session, status: 'closed' })
  })
})
