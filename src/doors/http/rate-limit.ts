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
 *  behind one address do not use up each other's. The total is asked first, and has in the end what was granted alone: an invented token makes
 *  no counter once it is spent, and a team over its own quota does not use up its neighbours'. Throws a Refusal with `retry_after`. */
export class RateLimit {
  #perToken: Allowance
  #perAddress: Allowance

  constructor(readonly services: Services) {
    const { RATE_LIMIT } = services.config
    this.#perToken = new Allowance(RATE_LIMIT)
    this.#perAddress = new Allowance(RATE_LIMIT * TEAMS_AN_ADDRESS)
  }

  /** Counts a request. The tokens of an MCP request may be in its body: `countMessages` counts those. */
  countRequest(c: Http) {
    const address = addressOf(c, this.services)
    const token = c.req.header('x-team-id')
    if (token === undefined && isMcp(c.req.path)) granted(this.#perAddress.take(address))
    else this.#count(c, address, token)
  }

  /** Counts each message of an MCP request for the token in its arguments, or else in the request's header. The first is the request
   *  itself, which `countRequest` charged its header's team for, or its address. */
  countMessages(c: Http, [first, ...others]: unknown[]) {
    const [address, header] = [addressOf(c, this.services), c.req.header('x-team-id')]
    if (header === undefined) {
      const wait = this.#own(c, address, first)
      if (wait > 0) this.#perAddress.giveBack(address)
      granted(wait)
    }
    for (const token of others) this.#count(c, address, token ?? header)
  }

  #count = (c: Http, address: string, token: unknown) =>
    granted(this.#perAddress.waitOf(address) || this.#own(c, address, token) || this.#perAddress.take(address))

  // Counted by the whole token: by its public half alone, a stranger could use up another team's quota.
  #own = (c: Http, address: string, token: unknown) => {
    const own = typeof token === 'string' ? token.trim() : ''
    return this.#perToken.take(parseToken(own) ? own : (keyIn(c) ?? address))
  }
}

const keyIn = (c: Http) => {
  const bearer = bearerOf(c)
  return bearer !== undefined && isKey(bearer) ? bearer : undefined
}

const granted = (retry_after: number) => {
  if (retry_after > 0) refuse('rate_limited', `Too many requests in a minute. Try again in ${retry_after} s.`, { retry_after })
}
