/** Resolves after `ms` milliseconds; without a number as soon as whatever else waits for this thread has had its turn. */
export const pause = (ms = 0): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms))
