/** Runs at most `most` tasks of each key at a time; further tasks wait in the order in which they came. */
export const concurrencyLimit = (most: number) => {
  const queues = new Map<string, { running: number; waiting: (() => void)[] }>()
  return async <T>(key: string, task: () => Promise<T>): Promise<T> => {
    const queue = queues.get(key) ?? { running: 0, waiting: [] }
    queues.set(key, queue)
    if (queue.running === most) await new Promise<void>((start) => queue.waiting.push(start))
    else queue.running++
    try {
      return await task()
    } finally {
      const next = queue.waiting.shift()
      if (next) next() // it takes this one's place
      else if (--queue.running === 0) queues.delete(key)
    }
  }
}
