const WIDTH = 30
const EVERY_MS = 100

/** A printer of progress: one line that is rewritten on a terminal (`live`), a line for each tenth elsewhere. */
export const progressBar = (label: string, print: (text: string) => void, live: boolean) => {
  const begun = performance.now()
  let shown = -1
  let shownAt = -Infinity
  return (done: number, all: number) => {
    const part = all === 0 ? 1 : Math.min(done / all, 1)
    const now = performance.now()
    const due = live ? now - shownAt >= EVERY_MS || part === 1 : Math.floor(part * 10) > shown
    if (!due) return
    shown = Math.floor(part * 10)
    shownAt = now
    const seconds = (now - begun) / 1000
    const bar = '█'.repeat(Math.round(part * WIDTH)).padEnd(WIDTH, '░')
    const left = done > 0 && part < 1 ? `, about ${Math.ceil((seconds / done) * (all - done))} s left` : ''
    const text = `${label} ${bar} ${Math.floor(part * 100)} %, ${done} of ${all}${left}`
    print(live ? `\r${text}\u001b[K${part === 1 ? '\n' : ''}` : `${text}\n`)
  }
}
