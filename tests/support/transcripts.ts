// Transcripts for tests: the small ones of tests/data, and what came of them.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileSource } from '../../src/import/source.ts'
import { importTranscript, type ImportReport } from '../../src/import/transcript.ts'
import { soon, type Served } from './parley.ts'

export const dataFile = (name: string) => join(import.meta.dir, '../data', name)

export const importFile = ({ services }: Pick<Served, 'services'>, path: string): Promise<ImportReport> =>
  importTranscript(services, fileSource(path))

export interface LoggedEvent {
  id: string
  sequence: number
  turn: number
  ordinal: number
  type: string
  author: string
  author_name: string | null
  terminal: boolean | null
  tool_name: string | null
  model: string | null
  originating_model: string | null
  source_line: string
  at: string
  content: any
}

export const eventsOf = ({ database }: Pick<Served, 'database'>, sessionId: string): Promise<LoggedEvent[]> =>
  database.query<LoggedEvent>('select * from events where session_id = $1 order by sequence', [sessionId])

export const sessionRow = async ({ database }: Pick<Served, 'database'>, id: string): Promise<any> =>
  (await database.query<any>('select * from sessions where id = $1', [id]))[0]

/** Deletes an imported session, as if it had never been imported. */
export const forget = async ({ database }: Pick<Served, 'database'>, id: string) => {
  for (const table of ['events', 'event_search']) await database.query(`delete from ${table} where session_id = $1`, [id])
  await database.query('delete from sessions where id = $1', [id])
}

/** An event in one line: its place, type, tool, text, and `!` if it ends its turn. */
export const outline = ({ turn, ordinal, type, tool_name, content, terminal }: LoggedEvent) =>
  [
    `${turn}.${ordinal}`,
    type,
    ...(tool_name ? [tool_name] : []),
    content.text ?? (content.arguments ? JSON.stringify(content.arguments) : (content.event ?? JSON.stringify(content.record ?? content))),
    ...(terminal ? ['!'] : []),
  ].join(' ')

/** A folder of its own for a test's files; `drop` removes it. */
export const scratch = () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-import-'))
  return {
    folder,
    write(name: string, content: string | Buffer) {
      const path = join(folder, name)
      writeFileSync(path, content)
      return path
    },
    drop: () => rmSync(folder, { recursive: true, force: true }),
  }
}

export const SESSION = '5f1c2d3e-0000-4000-8000-00000000c1a1'

/** Lines of a Claude Code transcript: `user` prompts, `agent` answers; `end` says that the turn is over. */
export const claudeLine = (i: number, role: 'user' | 'assistant', text: string, { end = false, session = SESSION } = {}) =>
  JSON.stringify({
    type: role,
    sessionId: session,
    uuid: `line-${i}`,
    isSidechain: false,
    timestamp: new Date(Date.UTC(2026, 3, 1) + i * 1000).toISOString(),
    message:
      role === 'user'
        ? { role, content: text }
        : { role, model: 'claude-opus-5', content: [{ type: 'text', text }], stop_reason: end ? 'end_turn' : null },
  })

/** An import whose second half comes in after `meanwhile`, which runs once a part of the first is written: its answer, and how many events
 *  were written after `meanwhile`. */
export const importedAround = async (served: Served, headers: Record<string, string>, meanwhile: () => Promise<unknown>) => {
  const session = crypto.randomUUID()
  const lines = Array.from({ length: 2_500 }, (_, i) => claudeLine(i, 'user', `${session} ${i} ${'x'.repeat(300)}`, { session }))
  const goesOn = Promise.withResolvers<void>()
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      controller.enqueue(new TextEncoder().encode(lines.slice(0, 1_250).join('\n')))
      await goesOn.promise
      controller.enqueue(new TextEncoder().encode(`\n${lines.slice(1_250).join('\n')}`))
      controller.close()
    },
  })
  const importing = served.send('/api/traces', { body, headers })
  const written = async () =>
    (
      await served.database.query<{ n: number }>(`select count(*)::int as n from events where content->>'text' like $1`, [`${session} %`])
    )[0]!.n
  await soon('the first batch is written', async () => (await written()) > 0)
  const before = await written()
  await meanwhile()
  goesOn.resolve()
  const answer = await importing
  return { answer, added: (await written()) - before }
}
