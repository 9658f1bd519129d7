// Loaded before a program of Node's: its clock is CLOCK_OFF_MS ahead of the machine's, or behind it.
const RealDate = Date
const off = Number(process.env.CLOCK_OFF_MS)

globalThis.Date = class extends RealDate {
  constructor(...given) {
    super(...(given.length === 0 ? [RealDate.now() + off] : given))
  }
  static now() {
    return RealDate.now() + off
  }
}
