const MOST = 500 // keys in one load

/** Gathers the keys asked for while an earlier load is under way, and loads them together: under load, many callers share one
 *  statement; alone, a caller is served at once. A load never serves a key that was asked for before the load began. */
export const combine = <Key, Value>(load: (keys: Key[]) => Promise<Value[]>) => {
  let waiting: { key: Key; resolve(value: Value): void; reject(error: unknown): void }[] = []
  let loading = false

  const next = async () => {
    if (loading || waiting.length === 0) return
    const batch = waiting.slice(0, MOST)
    waiting = waiting.slice(MOST)
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
