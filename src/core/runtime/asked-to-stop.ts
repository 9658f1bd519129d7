const SAME_WITHIN_MS = 1_000

/** What each call of the returned function is that tells a process to stop: the first, the same wish once more, or, from a second later on,
 *  another one. One Ctrl-C often comes more than once: a terminal signals the whole group, and a program in it passes the signal on. */
export const createStopWish = () => {
  let firstAt: number | undefined
  return (now = performance.now()): 'first' | 'same' | 'again' => {
    if (firstAt !== undefined) return now - firstAt < SAME_WITHIN_MS ? 'same' : 'again'
    firstAt = now
    return 'first'
  }
}
