/** Lets at most `most` pieces of work under one key run at a time; the others wait in the order in which they came. */
export const linesOf = (most: number) => {
  const lines = new Map<string, { running: number; waiting: (() => void)[] }>()
  return async <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const line = lines.get(key) ?? { running: 0, waiting: [] }
    lines.set(key, line)
    if (line.running === most) await new Promise<void>((turn) => line.waiting.push(turn))
    else line.running++
    try {
      return await work()
    } finally {
      const next = line.waiting.shift()
      if (next) next() // it takes this one's place
      else if (--line.running === 0) lines.delete(key)
    }
  }
}
