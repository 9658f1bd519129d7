// RATE_LIMIT, in requests a minute. A token is not looked up, only its shape is checked: a caller that invents tokens gets at most its
// address's total. A caller with many addresses is not stopped.
import { refuse } from '../../core/errors.ts'
import { parseToken } from '../../core/ids.ts'
import { isKey } from '../../core/key-scopes.ts'
import type { Services } from '../../process/services.ts'
import { Allowance } from './allowance.ts'
import { bearerOf } from './credentials.ts'
import { isMcp, type Http } from './http.ts'
import { addressOf } from './origin.ts'

const TEAMS_AN_ADDRESS = 20

/** One quota per token, else per key, else per address; and a total of twenty quotas per address. So up to twenty busy teams
 *  behind one address do not use up each other's. Throws a Refusal with `retry_after`. */
export class RateLimit {
  #perToken: Allowance
  #perAddress: Allowance

  constructor(readonly services: Services) {
    const { RATE_LIMIT } = services.config
    this.#perToken = new Allowance(RATE_LIMIT)
    this.#perAddress = new Allowance(RATE_LIMIT * TEAMS_AN_ADDRESS)
  }

  /** Counts a request. The token of an MCP request may be in its body: `countMessage` counts that. */
  countRequest(c: Http) {
    const address = addressOf(c, this.services)
    const token = c.req.header('x-team-id')
    // Check the address's total first but charge it last: a request with an invented token creates no counter once the total is spent, and a
    // team over its own quota does not use up its neighbours'.
    const own = token === undefined && isMcp(c.req.path) ? 0 : this.#own(c, address, token)
    granted(this.#perAddress.waitOf(address) || own || this.#perAddress.take(address))
  }

  /** Counts one message of an MCP request for the token in its arguments, unless the request's header had one. */
  countMessage(c: Http, token: unknown) {
    if (c.req.header('x-team-id') === undefined) granted(this.#own(c, addressOf(c, this.services), token))
  }

  // Counted by the whole token: by its public half alone, a stranger could use up another team's quota.
  #own = (c: Http, address: string, token: unknown) =>
    this.#perToken.take(typeof token === 'string' && parseToken(token) ? token : (keyIn(c) ?? address))
}

const keyIn = (c: Http) => {
  const bearer = bearerOf(c)
  return bearer !== undefined && isKey(bearer) ? bearer : undefined
}

const granted = (retry_after: number) => {
  if (retry_after > 0) refuse('rate_limited', `Too many requests in a minute. Try again in ${retry_after} s.`, { retry_after })
}
