const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const

/** `0.4 s`, `12 s`, `3 min 20 s`, `2 d 4 h`: how long something took, in its two largest units. */
export const lasted = (from: string, to: string): string => {
  const ms = Math.max(0, Date.parse(to) - Date.parse(from))
  if (ms < 950) return ms < 50 ? '0 s' : `${(ms / 1_000).toFixed(1)} s`
  const seconds = Math.round(ms / 1_000)
  const largest = UNITS.findIndex(([, size]) => seconds >= size)
  return UNITS.slice(largest, largest + 2)
    .map(([unit, size], i) => [Math.floor((i === 0 ? seconds : seconds % UNITS[largest]![1]) / size), unit] as const)
    .filter(([n]) => n > 0)
    .map(([n, unit]) => `${n} ${unit}`)
    .join(' ')
}
