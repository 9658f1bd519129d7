/** Resolves after `ms` milliseconds; without a number once everything else that is ready to run on this thread has run. */
export const pause = (ms = 0): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms))
