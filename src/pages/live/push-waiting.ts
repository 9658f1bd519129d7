import { approvalsLink } from './frames.tsx'
import { frame, type Bytes } from './protocol.ts'
import type { Subscriber } from './subscriber.ts'

/** Sends open pages the number in their header: each has its own person's. The bytes of a number are made once. */
export const pushWaiting = (viewers: Iterable<Subscriber>, id: () => string): void => {
  const made = new Map<number, Bytes>()
  const bytesOf = (count: number) => {
    if (!made.has(count)) made.set(count, frame(id(), approvalsLink(count)))
    return made.get(count)!
  }
  for (const viewer of viewers) viewer.pushWaiting(bytesOf)
}
