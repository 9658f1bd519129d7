// Numbers in words.

/** `1 turn`, `1,204 turns` */
export const counted = (count: number, one: string): string => `${count.toLocaleString('en')} ${count === 1 ? one : `${one}s`}`

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']

/** `512 B`, `9.5 KiB`, `212 MiB` */
export const inBytes = (bytes: number): string => {
  const unit = UNITS.findLastIndex((_, power) => power === 0 || bytes >= 1024 ** power)
  const amount = bytes / 1024 ** unit
  return `${Number(amount.toFixed(amount < 10 ? 1 : 0))} ${UNITS[unit]}`
}
