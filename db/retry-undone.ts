import { isUndone } from './errors.ts'

const TRIES = 4

/** The result of a transaction. One that the database undid, because another one waited for it, is begun again. */
export const retryUndone = async <Result>(transaction: () => Promise<Result>): Promise<Result> => {
  for (let tried = 1; ; tried++) {
    try {
      return await transaction()
    } catch (error) {
      if (!isUndone(error) || tried === TRIES) throw error
    }
  }
}
