// How many statements a call costs. The database counts those of the whole process, and jobs in the background send some too; on a busy machine
// a key is looked up again for each call. So the least of several tries is what the call itself costs.

/** The fewest statements that were sent while `call` ran, of ten tries, or of more (at most 300) until they are no more than `enough`. */
export const fewestStatements = async (
  { statements }: { statements: () => number },
  call: () => Promise<unknown>,
  enough = Infinity,
): Promise<number> => {
  let fewest = Infinity
  for (let n = 0; n < 10 || (n < 300 && fewest > enough); n++) {
    const before = statements()
    await call()
    fewest = Math.min(fewest, statements() - before)
  }
  return fewest
}
