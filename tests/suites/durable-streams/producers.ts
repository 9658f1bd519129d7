// Idempotent producers: that a retry is applied once is left to Parley's idempotency keys. Only what Parley has no place for is judged here:
// the number that must come next, and the epoch that shuts out an older producer of the same name.

export interface Producer {
  id: string
  epoch: number
  seq: number
}

/** Each producer's newest epoch, and the highest number taken in it. */
export type Producers = Map<string, { epoch: number; seq: number }>

const NAMES = ['producer-id', 'producer-epoch', 'producer-seq'] as const
const NUMBER = /^\d{1,15}$/

/** Undefined without the headers; `malformed` for some of them, or for what is no number. */
export const producerOf = (headers: Headers): Producer | 'malformed' | undefined => {
  const [id, epoch, seq] = NAMES.map((name) => headers.get(name))
  if (id === null && epoch === null && seq === null) return undefined
  if (!id || !epoch || !seq || !NUMBER.test(epoch) || !NUMBER.test(seq)) return 'malformed'
  return { id, epoch: Number(epoch), seq: Number(seq) }
}

/** The key of a producer's append: the same for a retry. */
export const keyOf = ({ id, epoch, seq }: Producer): string => `${id}/${epoch}/${seq}`

interface Verdict {
  refusal?: { status: number; headers: Record<string, string> }
  /** It was sent before. */
  retry: boolean
}

export const judge = (producers: Producers, { id, epoch, seq }: Producer): Verdict => {
  const known = producers.get(id)
  const refused = (status: number, headers: Record<string, string> = {}) => ({ refusal: { status, headers }, retry: false })
  if (known && epoch < known.epoch) return refused(403, { 'producer-epoch': String(known.epoch) })
  if (known && epoch > known.epoch) return seq === 0 ? { retry: false } : refused(400)
  const next = known ? known.seq + 1 : 0
  if (seq > next) return refused(409, { 'producer-expected-seq': String(next), 'producer-received-seq': String(seq) })
  return { retry: seq < next }
}

/** Remembers what was taken; answers with the headers that tell of it. */
export const taken = (producers: Producers, { id, epoch, seq }: Producer): Record<string, string> => {
  const known = producers.get(id)
  const highest = known?.epoch === epoch ? Math.max(known.seq, seq) : seq
  producers.set(id, { epoch, seq: highest })
  return { 'producer-epoch': String(epoch), 'producer-seq': String(highest) }
}
