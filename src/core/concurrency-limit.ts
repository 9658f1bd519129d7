/** Lets at most `most` pieces of work under one key run at a time; the others wait in the order in which they came. */
export const queuesOf = (most: number) => {
  const queues = new Map<string, { running: number; waiting: (() => void)[] }>()
  return async <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const queue = queues.get(key) ?? { running: 0, waiting: [] }
    queues.set(key, queue)
    if (queue.running === most) await new Promise<void>((turn) => queue.waiting.push(turn))
    else queue.running++
    try {
      return await work()
    } finally {
      const next = queue.waiting.shift()
      if (next) next() // it takes this one's place
      else if (--queue.running === 0) queues.delete(key)
    }
  }
}
