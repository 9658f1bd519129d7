// The progress of an import, in one line that is rewritten; only on a terminal.
import type { Terminal } from '../machine.ts'

const WIDTH = 24
const EVERY_MS = 100

export class Bar {
  #before = 0 // bytes of the files that are done
  #shownAt = 0
  #begun = performance.now()

  constructor(
    readonly out: Terminal,
    readonly all: number,
  ) {}

  at(bytes: number, name: string, events: number) {
    const now = performance.now()
    if (!this.out.isTTY || now - this.#shownAt < EVERY_MS) return
    this.#shownAt = now
    const part = this.all === 0 ? 1 : Math.min(1, (this.#before + bytes) / this.all)
    const filled = Math.round(part * WIDTH)
    const seconds = Math.round((now - this.#begun) / 1000)
    const line = `${'█'.repeat(filled)}${'░'.repeat(WIDTH - filled)} ${Math.floor(part * 100)} %  ${events.toLocaleString('en')} events  ${seconds} s  ${name}`
    this.out.write(`\r\x1b[2K${line.slice(0, (this.out.columns ?? 80) - 1)}`)
  }

  done(bytes: number, name: string, events: number) {
    this.#before += bytes
    this.at(0, name, events)
  }

  say(line: string) {
    this.clear()
    this.out.write(`${line}\n`)
  }

  clear() {
    if (this.out.isTTY) this.out.write('\r\x1b[2K')
  }
}
