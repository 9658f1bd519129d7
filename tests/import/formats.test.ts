import { expect, test } from 'bun:test'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { onEveryEngine, startParley } from '../support/parley.ts'
import { dataFile, eventsOf, forget, importFile, outline, sessionRow } from '../support/transcripts.ts'

onEveryEngine((parley) => {
  test('a Claude Code transcript becomes turns with prompts, tools and their ends', async () => {
    const report = await importFile(parley(), dataFile('claude-code.jsonl'))
    const events = await eventsOf(parley(), report.session_id)
    expect(events.map(outline)).toEqual([
      '1.1 runtime Another session, of last week',
      '1.2 runtime file_history_snapshot',
      '1.3 user_input Fix the lexer: it drops the last token.',
      '1.4 reasoning Look at next() first.',
      '1.5 assistant_response I run the tests.',
      '1.6 tool_call Bash {"command":"bun test","description":"Run"}',
      '1.7 tool_response Bash Exit code 1\n1 test failed: last token',
      '1.8 tool_call Task {"prompt":"Read the grammar"}',
      '1.9 runtime Read the grammar',
      '1.10 assistant_response The grammar is fine.',
      '1.11 tool_response Task The grammar is fine.\n[image/png, 9 bytes]',
      '1.12 assistant_response Fixed: the loop ended one token early. !',
      '1.13 runtime turn_duration',
      '2.1 user_input /cost',
      '2.2 system <local-command-stdout>Total cost: $0.12</local-command-stdout> !',
      '3.1 user_input Now search the web for a better algorithm.',
      '3.2 tool_call WebSearch {"query":"maximal munch lexer"}',
      '3.3 runtime [Request interrupted by user for tool use] !',
      '3.4 compaction Conversation compacted',
      '3.5 compaction This session is being continued: the lexer was fixed.',
      '3.6 unknown {"type":"a-kind-of-tomorrow","value":7,"sessionId":"5f1c2d3e-0000-4000-8000-00000000c1a0"}',
      '4.1 user_input Thanks. Is it released?',
      '4.2 assistant_response Not yet.',
    ])
    expect(events[6]!.content).toMatchObject({ exit_code: 1, is_error: true })
    expect(events[11]).toMatchObject({ model: 'claude-opus-5', originating_model: 'claude-opus-5', author_name: 'Claude Code' })
    expect(events[5]).toMatchObject({ model: null, originating_model: 'claude-opus-5', source_line: '6' })
    expect(report).toMatchObject({ source: 'claude-code', turns: 4, events: 23, added: 23, skipped: [{ line: 21, reason: 'not JSON' }] })
    expect(await sessionRow(parley(), report.session_id)).toMatchObject({
      title: 'Fix the lexer: it drops the last token.',
      status: 'closed',
      source: 'claude-code',
      created_at: '2026-05-04T10:00:00.000Z',
      last_event_at: '2026-05-04T10:03:02.000Z',
      last_sequence: 23,
      last_conversation_sequence: 22,
      turn: 4,
      turn_events: 2,
    })
  })

  test('a Codex rollout tells each text once, with exit codes of every make', async () => {
    const report = await importFile(parley(), dataFile('codex.jsonl'))
    const events = await eventsOf(parley(), report.session_id)
    expect(events.map(outline)).toEqual([
      '1.1 runtime session_meta',
      '1.2 system You are in a sandbox.',
      '1.3 system <environment_context><cwd>/work/parser</cwd></environment_context>',
      '1.4 runtime task_started',
      '1.5 runtime turn_context',
      '1.6 user_input Why does E_TOKEN_42 appear in src/lexer/scan.rs?',
      '1.7 reasoning Look for the code.',
      '1.8 tool_call exec_command {"cmd":"rg E_TOKEN_42"}',
      '1.9 tool_response exec_command Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\nsrc/lexer/scan.rs:7',
      '1.10 tool_call local_shell {"type":"exec","command":["cargo","test"]}',
      '1.11 tool_response local_shell 2 failed',
      '1.12 runtime token_count',
      '1.13 assistant_response Because the table has no entry for it. !',
      '1.14 runtime task_complete',
      '2.1 runtime task_started',
      '2.2 runtime turn_context',
      '2.3 user_input Add one.',
      '2.4 tool_call apply_patch "*** Begin Patch\\n*** End Patch"',
      '2.5 runtime turn_aborted !',
      '2.6 tool_response apply_patch aborted by user',
      '2.7 compaction The table was looked at.',
      '2.8 unknown {"type":"from_tomorrow","payload":{"a":1},"timestamp":"2026-06-01T09:00:31.000Z"}',
    ])
    expect(events.filter(({ type }) => type === 'tool_response').map(({ content }) => content.exit_code)).toEqual([0, 101, undefined])
    expect(events[12]).toMatchObject({ model: 'gpt-5.6', originating_model: 'gpt-5.6' })
    expect(report).toMatchObject({ source: 'codex', turns: 2, skipped: [] })
  })

  const gemini = [
    '1.1 runtime session_meta',
    '1.2 user_input List the modules.',
    '1.3 reasoning Plan\n\nList the folder.',
    '1.4 assistant_response I look.',
    '1.5 tool_call list_directory {"dir_path":"src"}',
    '1.6 tool_response list_directory lexer\nparser',
    '1.7 assistant_response Two: lexer and parser. !',
    '2.1 user_input Delete them.',
    '2.2 runtime Request cancelled. !',
  ]

  test('a Gemini CLI session is the same session as one document and as lines that grew', async () => {
    const document = await importFile(parley(), dataFile('gemini.json'))
    expect((await eventsOf(parley(), document.session_id)).map(outline)).toEqual(gemini)
    expect((await sessionRow(parley(), document.session_id)).title).toBe('Modules of the parser')
    const lines = await importFile(parley(), dataFile('gemini.jsonl'))
    expect(lines).toMatchObject({ session_id: document.session_id, added: 0, events: 9, skipped: [] })
    await forget(parley(), document.session_id)
    const anew = await importFile(parley(), dataFile('gemini.jsonl'))
    expect((await eventsOf(parley(), anew.session_id)).map(outline)).toEqual(gemini)
  })

  test('the prompts of logs.json are a session of their own', async () => {
    const report = await importFile(parley(), dataFile('gemini-logs.json'))
    expect((await eventsOf(parley(), report.session_id)).map(outline)).toEqual([
      '1.1 user_input List the modules.',
      '2.1 user_input Delete them.',
    ])
  })
})

const SHARED = join(import.meta.dir, '../../../shared/data/transcripts')

// Real transcripts of many versions. They lie beside some checkouts, and are no part of this one.
test.skipIf(!existsSync(SHARED))(
  'real transcripts beside this checkout are read to their last line (skipped where there are none)',
  async () => {
    const parley = await startParley()
    try {
      const files = readdirSync(SHARED).filter((name) => name.endsWith('.jsonl'))
      expect(files.length).toBeGreaterThan(3)
      for (const name of files) {
        const { session_id, skipped, events, added } = await importFile(parley, join(SHARED, name))
        expect({ name, skipped, all: events === added && added > 0 }).toEqual({ name, skipped: [], all: true })
        const logged = await eventsOf(parley, session_id)
        expect(logged.map(({ sequence }) => sequence)).toEqual(logged.map((_, i) => i + 1))
        expect(await importFile(parley, join(SHARED, name))).toMatchObject({ added: 0, events })
      }
    } finally {
      await parley.close()
    }
  },
  120_000,
)
