// The statements of the embedded database, prepared: parsed and planned once for all of their runs, as the driver of Postgres does it. In
// WebAssembly that takes most of a short statement's time (bench/embedded: a post takes a third of the time).
import { parse, protocol, type PGlite } from '@electric-sql/pglite'
import type { RunStatement, SqlStatement } from './database.ts'

const { serialize } = protocol
type Message = Awaited<ReturnType<PGlite['execProtocol']>>['messages'][number]

// Several times as many as the program has: some are put together from parts. Beyond that all are forgotten at once, which is one
// DEALLOCATE; to forget the oldest alone would take one more statement for each new one.
const MOST_PREPARED = 1_000
const CHANGES_TABLES = /^\s*(create|alter|drop)\b/i // plans from before are of no use then

interface Prepared {
  name: string
  /** The types of its parameters. */
  types: number[]
  /** What its rows consist of. */
  columns: Message[]
}

/** Runs statements on this PGlite, whose parsers and serializers it uses. The caller holds the connection, or is within a transaction. */
export const statementsOn = (client: PGlite): RunStatement => {
  const all = new Map<string, Prepared>()
  let named = 0

  const send = async (...messages: Uint8Array[]): Promise<Message[]> =>
    (await client.execProtocol(Buffer.concat([...messages, serialize.sync()]))).messages

  const prepare = async (text: string): Promise<Prepared> => {
    if (all.size >= MOST_PREPARED) await forgetAll()
    const name = `s${++named}`
    const described = await send(serialize.parse({ name, text }), serialize.describe({ type: 'S', name }))
    const prepared = {
      name,
      types: parse.parseDescribeStatementResults(described),
      columns: described.filter((message) => message.name === 'rowDescription'),
    }
    all.set(text, prepared)
    return prepared
  }

  const forgetAll = async () => {
    all.clear()
    await send(serialize.query('deallocate all'))
  }

  const valueOf = (value: unknown, type: number): string | null =>
    value === null || value === undefined ? null : (client.serializers[type]?.(value) ?? String(value))

  const run = async ({ text, params, asArrays }: SqlStatement): Promise<unknown[]> => {
    const { name, types, columns } = all.get(text) ?? (await prepare(text))
    const values = types.map((type, i) => valueOf(params[i], type))
    const answer = await send(serialize.bind({ statement: name, values }), serialize.execute({}))
    if (CHANGES_TABLES.test(text)) await forgetAll()
    return parse.parseResults([...columns, ...answer], client.parsers, { rowMode: asArrays ? 'array' : 'object' })[0]!.rows
  }
  return (statement) => client.runExclusive(() => run(statement))
}
