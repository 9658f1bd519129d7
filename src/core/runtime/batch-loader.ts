const BATCH = 500

/** A batch loader, as DataLoader is one, but it batches per load in flight instead of per tick: keys that are requested while a load is
 *  under way are loaded together by the next one. Under pressure many callers share one statement; a single caller waits for nobody. A key
 *  is never answered by a load that began before it was requested. */
export const createBatchLoader = <Key, Value>(load: (keys: Key[]) => Promise<Value[]>) => {
  let waiting: { key: Key; resolve(value: Value): void; reject(error: unknown): void }[] = []
  let loading = false

  const next = async () => {
    if (loading || waiting.length === 0) return
    const batch = waiting.slice(0, BATCH)
    waiting = waiting.slice(BATCH)
    loading = true
    try {
      const values = await load(batch.map(({ key }) => key))
      batch.forEach(({ resolve }, i) => resolve(values[i]!))
    } catch (error) {
      for (const { reject } of batch) reject(error)
    } finally {
      loading = false
      void next()
    }
  }

  return (key: Key): Promise<Value> =>
    new Promise((resolve, reject) => {
      waiting.push({ key, resolve, reject })
      queueMicrotask(() => void next())
    })
}
