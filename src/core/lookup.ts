/** The value that a table has under a word from outside. The table itself answers to `constructor` and `__proto__` too. */
export const valueIn = <Value>(table: Readonly<Record<string, Value>>, word: string): Value | undefined =>
  Object.hasOwn(table, word) ? table[word] : undefined
