/** The first `units` of a text, in UTF-16, without half of a character at the end. */
export const cutAt = (text: string, units: number): string =>
  text.slice(0, /[\ud800-\udbff]/.test(text[units - 1] ?? '') ? units - 1 : units)
