import { describe, expect } from 'bun:test'
import { test } from '../support/foreign.ts'
import { done, refused, room, say, seat, throughBothDoors } from '../support/parley.ts'

const KIB = 1024
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => from + n)
const sequences = (messages: any[]) => messages.map(({ sequence }) => sequence)
const lengthOf = (value: unknown) => JSON.stringify(value).length
const HOSTILE = '"\\\n\u0001é😀'

throughBothDoors((call) => {
  describe('max_chars', () => {
    test('ends a page of a wait early, and the pages together miss nothing', async () => {
      const { alex, bea } = await room(call)
      for (const n of range(1, 12)) await say(alex, `${n} ${HOSTILE.repeat(30)}`)
      const seen: number[] = []
      let pages = 0
      for (let cursor = 0; ; pages++) {
        const page = await done(bea('wait_for_messages', { since_cursor: cursor, timeout: 0, max_chars: 2_000 }))
        expect(lengthOf(page)).toBeLessThanOrEqual(2_000)
        for (const message of page.messages) expect(message.truncated).toBeUndefined()
        seen.push(...sequences(page.messages))
        cursor = page.next_cursor
        if (!page.has_more) break
      }
      expect(seen).toEqual(range(1, 13))
      expect(pages).toBeGreaterThan(3)
    })

    test('cuts a message that is too long by itself, says so, and its id reads it whole', async () => {
      const { alex, bea } = await room(call)
      const text = HOSTILE.repeat(3 * KIB)
      const { message_id } = await say(alex, text)
      await say(alex, 'after')
      for (const max_chars of [1_000, 1_001, 4_000]) {
        const answer = await done(bea('wait_for_messages', { since_cursor: 1, timeout: 0, max_chars }))
        const { messages, has_more } = answer
        expect(messages).toHaveLength(1)
        expect(lengthOf(answer)).toBeLessThanOrEqual(max_chars)
        expect(lengthOf(messages)).toBeGreaterThan(max_chars / 2)
        expect(messages[0]).toMatchObject({ id: message_id, truncated: { chars: text.length } })
        const kept = messages[0].content.text.slice(0, -1)
        expect(messages[0].content.text).toEndWith('…')
        expect(text.startsWith(kept) && kept.isWellFormed()).toBe(true)
        expect(has_more).toBe(true)
      }
      const whole = await done(bea('get_history', { message_id }))
      expect(whole.messages).toMatchObject([{ content: { text } }])
      expect(whole.messages[0].truncated).toBeUndefined()
    })

    test('session_closed comes with the last page of a budget', async () => {
      const { alex, bea } = await room(call)
      for (const n of range(1, 5)) await say(alex, `${n}${'x'.repeat(500)}`)
      await done(alex('conclude_session', { summary_section: 'done' }))
      for (let cursor = 0; ;) {
        const page = await done(bea('wait_for_messages', { since_cursor: cursor, max_chars: 1_000 }))
        expect(page.session_closed).toBe(!page.has_more)
        cursor = page.next_cursor
        if (!page.has_more) break
      }
    })

    test('a system event with long texts is cut like any other', async () => {
      const { alex, bea } = await room(call)
      await done(alex('update_session_metadata', { description: 'd'.repeat(9_000), reason: 'r'.repeat(1_500) }))
      const { messages } = await done(bea('wait_for_messages', { since_cursor: 1, timeout: 0, max_chars: 1_000 }))
      expect(lengthOf(messages)).toBeLessThanOrEqual(1_000)
      expect(messages[0]).toMatchObject({ event: 'session_metadata_updated', truncated: { chars: 9_000 } })
    })

    test('a page of history keeps its newest, and goes on from there', async () => {
      const { alex, bea } = await room(call)
      for (const n of range(1, 12)) await say(alex, `${n} ${'x'.repeat(300)}`, { to: [bea.handle] })
      let seen: number[] = []
      for (let before: number | undefined; ;) {
        const page = await done(alex('get_history', { before_cursor: before, max_chars: 2_500 }))
        expect(lengthOf(page.messages)).toBeLessThanOrEqual(2_500)
        seen = [...sequences(page.messages), ...seen]
        before = page.next_cursor
        if (!page.has_more) break
      }
      expect(seen).toEqual(range(1, 13))
    })

    test('whom a message names, and who has acknowledged it, is cut as well, and counted', async () => {
      const { alex, id } = await room(call)
      const teams = await Promise.all(
        range(1, 30).map(async (n) => seat(call, await done(call('join_session', { session_id: id, team_name: `Team ${n}` })))),
      )
      const { message_id, cursor } = await say(alex, 'Who reviews it?', { to: teams.map(({ handle }) => handle), expects_reply: true })
      await Promise.all(teams.map((team) => team('wait_for_messages', { since_cursor: cursor - 1, timeout: 0 })))
      await Promise.all(teams.map((team) => team('ack_messages', { cursor })))
      const waited = await done(alex('wait_for_messages', { since_cursor: cursor - 1, timeout: 0, max_chars: 1_000 }))
      const read = await done(alex('get_history', { limit: 1, max_chars: 1_000 }))
      for (const page of [waited, read]) {
        expect(lengthOf(page)).toBeLessThanOrEqual(1_000)
        const [row] = page.messages
        expect(row).toMatchObject({
          id: message_id,
          content: { text: 'Who reviews it?' },
          truncated: { omitted: { to: 30 - row.to.length } },
        })
      }
      const [short] = read.messages
      for (const list of ['delivered_to', 'acknowledged_by']) expect(short.truncated.omitted[list]).toBe(30 - short[list].length)
      const [whole] = (await done(alex('get_history', { message_id }))).messages
      expect([whole.to.length, whole.delivered_to.length, whole.acknowledged_by.length]).toEqual([30, 30, 30])
      const caught = await done(teams[0]!('catch_up', { max_chars: 2_000 }))
      expect(lengthOf(caught)).toBeLessThanOrEqual(2_000)
      expect(caught.unanswered).toMatchObject([{ id: message_id }])
    })

    test('below 1,000 it is refused', async () => {
      const { alex } = await room(call)
      for (const name of ['wait_for_messages', 'get_history', 'read_session_doc'])
        for (const max_chars of [0, 999, -1, 1_500.5])
          expect((await refused(alex(name, { max_chars }), 'invalid_request')).details.field).toBe('max_chars')
    })
  })

  const DOC =
    '# Parser\n\nintro\n\n## Notes\n\nold\n\n### Deep\n\nx\n\n```\n## Not a heading\n```\n\n## Notes\n\nsecond\n\nDone\n----\n\nend\n'
  const withDoc = async (content = DOC) => {
    const { alex, bea, id } = await room(call)
    await done(alex('update_session_doc', { content, expected_version: 0 }))
    return { alex, bea, id }
  }

  describe('section of the doc', () => {
    test.each([
      ['Parser', DOC.trimEnd()],
      ['notes', '## Notes\n\nold\n\n### Deep\n\nx\n\n```\n## Not a heading\n```'],
      ['Notes (2)', '## Notes\n\nsecond'],
      ['Deep', '### Deep\n\nx\n\n```\n## Not a heading\n```'],
      ['Done', 'Done\n----\n\nend'],
    ])('%s is read alone', async (section, content) => {
      const { bea } = await withDoc()
      expect(await done(bea('read_session_doc', { section }))).toEqual({ content, version: 1 })
    })

    test('a section that is not there is not_found, with the names of those that are', async () => {
      const { alex } = await withDoc()
      for (const section of ['Not a heading', 'Notes (3)']) {
        const error = await refused(alex('read_session_doc', { section }), 'not_found')
        expect(error.details.sections).toEqual(['Parser', 'Notes', 'Deep', 'Notes (2)', 'Done'])
        await refused(alex('update_session_doc', { section, content: 'x', expected_version: 1 }), 'not_found')
      }
    })

    test('a text before the first heading is a section too, and so is a doc without one', async () => {
      const { alex } = await withDoc('intro\n\n# A\n\na\n')
      await done(alex('update_session_doc', { section: '(top)', content: 'new', expected_version: 1 }))
      expect((await done(alex('read_session_doc'))).content).toBe('new\n\n# A\n\na\n')
      const { alex: other } = await withDoc('only text')
      expect((await done(other('read_session_doc', { section: '(top)' }))).content).toBe('only text')
    })

    test.each([
      ['new text', '## Notes\n\nnew text\n'],
      ['## Notes\n\nnew text\n\n', '## Notes\n\nnew text\n'],
      ['## Renamed\nnew text', '## Renamed\nnew text\n'],
      ['### Deeper\n\nx', '## Notes\n\n### Deeper\n\nx\n'],
      ['\n\n', '## Notes\n'],
    ])('is replaced by %j, and nothing else is', async (content, written) => {
      const { alex, bea } = await withDoc()
      expect((await done(bea('update_session_doc', { section: 'Notes', content, expected_version: 1 }))).version).toBe(2)
      const [before, after] = [DOC.slice(0, DOC.indexOf('## Notes')), DOC.slice(DOC.lastIndexOf('## Notes'))]
      expect((await done(alex('read_session_doc'))).content).toBe(`${before}${written}\n${after}`)
    })

    test('is replaced under the same version rule', async () => {
      const { alex, bea } = await withDoc()
      await done(bea('update_session_doc', { section: 'Done', content: 'end 2', expected_version: 1 }))
      const error = await refused(alex('update_session_doc', { section: 'Deep', content: 'lost', expected_version: 1 }), 'version_conflict')
      expect(error.details.current_version).toBe(2)
      expect((await done(alex('read_session_doc'))).content).not.toContain('lost')
    })

    test('a text that would swallow what follows is refused', async () => {
      const { alex } = await withDoc()
      const open = alex('update_session_doc', { section: 'Deep', content: '```\nnever closed', expected_version: 1 })
      expect((await refused(open, 'invalid_request')).details.field).toBe('content')
      expect(await done(alex('read_session_doc'))).toEqual({ content: DOC, version: 1 })
    })

    test('a section cannot take the doc past 512 KiB', async () => {
      const { alex } = await withDoc(`## A\n\n${'x'.repeat(400 * KIB)}\n\n## B\n`)
      await refused(alex('update_session_doc', { section: 'B', content: 'x'.repeat(200 * KIB), expected_version: 1 }), 'payload_too_large')
    })

    test('max_chars cuts it, says how long it is, and names the sections to read', async () => {
      const long = `# Parser\n\n${range(1, 40)
        .map((n) => `## Part ${n}\n\n${HOSTILE.repeat(40)}`)
        .join('\n\n')}\n`
      const { alex } = await withDoc(long)
      for (const max_chars of [1_000, 3_000, 8_000]) {
        const doc = await done(alex('read_session_doc', { max_chars }))
        expect(lengthOf(doc)).toBeLessThanOrEqual(max_chars)
        expect(long.startsWith(doc.content.slice(0, -1))).toBe(true)
        expect(doc.truncated.chars).toBe(long.length)
        const [, first] = doc.truncated.outline
        expect(first).toMatchObject({ section: 'Part 1', level: 2 })
        expect((await done(alex('read_session_doc', { section: first.section }))).content).toStartWith('## Part 1\n')
      }
      const whole = await done(alex('read_session_doc', { max_chars: 100_000 }))
      expect(whole).toEqual({ content: long, version: 1 })
    })
  })
})
