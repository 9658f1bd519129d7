/** The pattern of `like` for what has this text somewhere in it. */
export const patternOf = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`
