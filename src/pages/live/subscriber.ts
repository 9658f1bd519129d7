import type { Bytes } from './protocol.ts'

/** An open page's stream, as the hub sees it. */
export interface Subscriber {
  /** Hands over bytes that all get; ignored by one that still catches up. */
  push(bytes: Bytes): void
  /** Hands over the bytes of the number in this page's header, unless it was told that number last. */
  pushWaiting(bytesOf: (count: number) => Bytes): void
  /** Ends the stream of one that has caught up. */
  endLive(last: Bytes): void
  end(): void
}
