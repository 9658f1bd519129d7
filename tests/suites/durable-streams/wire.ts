// Headers and offsets of the protocol.

export const NEXT_OFFSET = 'stream-next-offset'
export const CLOSED = 'stream-closed'
export const UP_TO_DATE = 'stream-up-to-date'
export const CURSOR = 'stream-cursor'
export const SEQ = 'stream-seq'

const DIGITS = 15 // as many as Parley takes for a cursor; padded, so that offsets sort as text

export const offsetOf = (cursor: number): string => String(cursor).padStart(DIGITS, '0')

/** The cursor of an offset; undefined for what is none. */
export const cursorOf = (offset: string): number | undefined => {
  if (offset === '-1') return 0
  return new RegExp(`^\\d{${DIGITS}}$`).test(offset) ? Number(offset) : undefined
}

const TURNS_MS = 20_000
const EPOCH_MS = Date.UTC(2024, 9, 9)

/** A number that caches may tell requests apart by: it grows with time, and past the one that the reader had. */
export const cacheCursor = (had: string | null): string => {
  const now = Math.floor((Date.now() - EPOCH_MS) / TURNS_MS)
  return String(Math.max(now, Number(had ?? -1) + 1))
}

/** A response with the headers of Parley's answer, its body's aside. */
export const answered = (
  { headers }: { headers: Headers },
  status: number,
  more: Record<string, string> = {},
  body: BodyInit | null = null,
): Response => {
  const all = new Headers(headers)
  for (const name of ['content-type', 'content-length', 'idempotency-replayed']) all.delete(name)
  for (const [name, value] of Object.entries(more)) all.set(name, value)
  return new Response(body, { status, headers: all })
}
