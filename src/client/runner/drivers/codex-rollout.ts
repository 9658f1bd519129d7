// Codex' own transcript of a conversation, read while Codex writes it: its notifications have neither what the model said of a call nor what
// it was told of the result, and the items themselves are to be had for new conversations alone.
import { open, stat } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { jsonIn } from '../../../core/text/json.ts'
import { codex } from '../../../transcripts/codex.ts'
import { isObject, objectOr, textOr, type Json } from '../../../transcripts/json.ts'
import { linesOf } from '../../../transcripts/lines.ts'
import { newMemory } from '../../../transcripts/memory.ts'
import { unknown, type TraceEvent } from '../../../transcripts/trace-event.ts'

const READ_EVERY_MS = 40
const CHUNK = 64 * 1024

/** Where the next turn's records begin. */
export const lengthOf = async (path: string): Promise<number> => {
  try {
    return (await stat(path)).size
  } catch {
    return 0 // it is made with the first turn
  }
}

export interface Followed {
  /** The key of the call that has this id. */
  keyOfCall(id: string): string | undefined
  /** Reads to the end, and no further. */
  stop(): Promise<void>
}

/** Tells the events of one turn as they are written. */
export const followTurn = (path: string, from: number, turn: string, report: (key: string, events: TraceEvent[]) => void): Followed => {
  const calls = new Map<string, string>()
  const memory = newMemory()
  let over = false
  let begun = false
  const read = async () => {
    for await (const { text, end } of linesOf(
      growing(path, from, () => over),
      { bytes: from, lines: 0, open: false },
    )) {
      const record = objectOr(jsonIn(text))
      begun ||= begins(record, turn)
      if (!begun || isLeftOut(record)) continue
      const events = eventsOf(record, memory)
      const call = textOr(objectOr(record.payload).call_id)
      if (call !== undefined && events[0]?.type === 'tool_call') calls.set(call, String(end))
      report(String(end), events)
    }
  }
  const reading = read().catch(() => {})
  return {
    keyOfCall: (id) => calls.get(id),
    stop() {
      over = true
      return reading
    },
  }
}

async function* growing(path: string, from: number, isOver: () => boolean): AsyncGenerator<Uint8Array> {
  for (let at = from; ;) {
    const last = isOver()
    const chunk = await bytesAt(path, at)
    if (chunk.length > 0) {
      yield chunk
      at += chunk.length
    } else if (last) return
    else await sleep(READ_EVERY_MS)
  }
}

const bytesAt = async (path: string, at: number): Promise<Uint8Array> => {
  try {
    const file = await open(path)
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(CHUNK), 0, CHUNK, at)
      return buffer.subarray(0, bytesRead)
    } finally {
      await file.close()
    }
  } catch {
    return Buffer.alloc(0)
  }
}

const STARTED = new Set(['task_started', 'turn_started'])

// A fork's file begins with a copy of what came before.
const begins = ({ type, payload }: Json, turn: string) => {
  const { type: event, turn_id } = objectOr(payload)
  return type === 'event_msg' && STARTED.has(String(event)) && (turn_id === turn || turn_id === undefined)
}

// Counts, the model's instructions, and second records of what the items tell.
const LEFT_OUT = new Set(['world_state', 'token_usage_record', 'token_count', 'item_started', 'item_completed'])
const isLeftOut = ({ type, payload }: Json) => LEFT_OUT.has(String(type)) || (isObject(payload) && LEFT_OUT.has(String(payload.type)))

const eventsOf = (record: Json, memory: ReturnType<typeof newMemory>): TraceEvent[] => {
  if (Object.keys(record).length === 0) return []
  try {
    return codex.read(record, memory)
  } catch {
    return [unknown(record)]
  }
}
