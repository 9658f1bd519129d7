// The rows of bench/corpus.ts in the log, the same however they are written.
import type { Made } from './corpus.ts'

export const uuid = (kind: number, a: number, b = 0) =>
  `${String(kind).padStart(8, '0')}-0000-7000-8000-${String(a * 10_000 + b).padStart(12, '0')}`

/** Each event is a second later than the one before. */
export const timeOf = (n: number) => new Date(Date.UTC(2026, 0, 1) + n * 1_000).toISOString()

export const eventRow = ({ session, sequence, turn, ordinal, type, tool, terminal, text }: Made, n: number) => ({
  n,
  session_id: uuid(1, session),
  sequence,
  id: uuid(2, session, sequence),
  turn,
  ordinal,
  type,
  tool,
  terminal: terminal || null,
  text,
})
