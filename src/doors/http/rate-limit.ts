// RATE_LIMIT: how many requests a minute. Tokens are not looked up here, only their shape is checked: one that invents tokens gets at
// most its address's total. It does not stop a caller with many addresses.
import { refuse } from '../../core/errors.ts'
import { parseToken } from '../../core/ids.ts'
import type { Services } from '../../process/services.ts'
import { Allowance } from './allowance.ts'
import { isMcp, type Asked } from './http.ts'
import { addressOf } from './origin.ts'

const TEAMS_AN_ADDRESS = 20

/** A quota for each token (or address without one), and twenty times as much for an address in total: teams behind one address do not
 *  spend each other's, up to twenty that use all of theirs; past that they share. Throws a Refusal with `retry_after`. */
export class RateLimit {
  #each: Allowance
  #whole: Allowance

  constructor(readonly services: Services) {
    const { RATE_LIMIT } = services.config
    this.#each = new Allowance(RATE_LIMIT)
    this.#whole = new Allowance(RATE_LIMIT * TEAMS_AN_ADDRESS)
  }

  /** Counts a request as it comes. Whose an MCP request is, its body tells: see `message`. */
  request(c: Asked) {
    const address = addressOf(c, this.services)
    const token = c.req.header('x-team-id')
    // Asked for the whole first, taken from it last: an invented name leaves nothing behind, and a team past its own takes from nobody.
    const own = token === undefined && isMcp(c.req.path) ? 0 : this.#own(address, token)
    granted(this.#whole.waitOf(address) || own || this.#whole.take(address))
  }

  /** Counts a message of an MCP request for the token among its arguments, unless the header had one. */
  message(c: Asked, token: unknown) {
    if (c.req.header('x-team-id') === undefined) granted(this.#own(addressOf(c, this.services), token))
  }

  // The whole token, not its public half: with that, a stranger could spend what is another's.
  #own = (address: string, token: unknown) => this.#each.take(typeof token === 'string' && parseToken(token) ? token : address)
}

const granted = (retry_after: number) => {
  if (retry_after > 0) refuse('rate_limited', `Too many requests in a minute. Try again in ${retry_after} s.`, { retry_after })
}
