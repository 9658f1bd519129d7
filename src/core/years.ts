/** Whether a time, in UTC, is in the years 1 to 9999: for others the database has no text. What is no time is not refused here. */
export const inYears = (given: string): boolean => {
  const year = new Date(given).getUTCFullYear()
  return !(year < 1 || year > 9999)
}

/** Why another is refused. */
export const IN_YEARS = 'must be in the years 1 to 9999'
