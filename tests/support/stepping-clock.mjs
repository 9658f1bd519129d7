// Loaded before a server (BUN_OPTIONS=--preload=…): SIGUSR2 steps its clock, an hour or a day ahead of the machine's or behind it, in turn.
const HOUR_MS = 3_600_000
const OFF_MS = [HOUR_MS, -HOUR_MS, 24 * HOUR_MS, -24 * HOUR_MS, 0]

const RealDate = Date
let steps = 0
let off = 0
process.on('SIGUSR2', () => void (off = OFF_MS[steps++ % OFF_MS.length]))

globalThis.Date = class extends RealDate {
  constructor(...given) {
    super(...(given.length === 0 ? [RealDate.now() + off] : given))
  }
  static now() {
    return RealDate.now() + off
  }
}
