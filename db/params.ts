/** Binds values to the parameters of a statement that is put together: returns what stands for each in its text. */
export const binderTo =
  (params: unknown[]) =>
  (value: unknown): string =>
    `$${params.push(value)}`
