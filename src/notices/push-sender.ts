// Sends to the push services of browsers. Their endpoints come from whoever is signed in, so this is where a request must not be led to
// where only this server gets: https alone, each name looked up once, every address of it judged, and connected to as looked up, so that
// no second lookup can answer otherwise. By node:https, which takes the addresses and still checks the certificate against the name.
import { lookup as systemLookup } from 'node:dns/promises'
import { request, type RequestOptions } from 'node:https'
import ipaddr from 'ipaddr.js'
import { isPublicAddress } from './address-rule.ts'
import { EndpointRefused, type PushSender } from './push.ts'

interface Rules {
  /** All addresses of a name. */
  lookup?: (name: string) => Promise<string[]>
  isAllowed?: (address: string) => boolean
  /** Certificates to trust in place of the system's. */
  ca?: string
}

const lookupAll = async (name: string) => (await systemLookup(name, { all: true })).map(({ address }) => address)

/** A sender that connects to public addresses alone, and to those that it has judged. Throws EndpointRefused for an endpoint that it does
 *  not send to. */
export const createPushSender = ({ lookup = lookupAll, isAllowed = isPublicAddress, ca }: Rules = {}): PushSender => {
  const check = async (endpoint: string, signal: AbortSignal): Promise<string[]> => {
    const { protocol, hostname } = new URL(endpoint)
    if (protocol !== 'https:') throw new EndpointRefused('it is not https')
    const host = hostname.replace(/^\[|\]$/g, '')
    const addresses = ipaddr.isValid(host) ? [host] : await orAbort(lookup(host), signal)
    if (addresses.length === 0 || !addresses.every(isAllowed)) throw new EndpointRefused('its address is not a public one')
    return addresses
  }
  return {
    check: async (endpoint, signal) => void (await check(endpoint, signal)),
    async send({ endpoint, headers, body, signal }) {
      const addresses = await check(endpoint, signal)
      return post(endpoint, { headers, signal, ...(ca !== undefined && { ca }), lookup: answering(addresses) }, body)
    },
  }
}

// node:dns has no way to end a lookup: it goes on, and its result is dropped.
const orAbort = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    signal.throwIfAborted()
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    work.then(resolve, reject)
  })

const answering = (addresses: string[]): NonNullable<RequestOptions['lookup']> => {
  const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  return (_name, { all }, done) => (all ? done(null, found) : done(null, found[0]!.address, found[0]!.family))
}

const post = (endpoint: string, options: RequestOptions, body: Uint8Array): Promise<{ status: number; retryAfter: string | undefined }> =>
  new Promise((resolve, reject) => {
    const sent = request(endpoint, { method: 'POST', agent: false, ...options }, (response) => {
      resolve({ status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'] })
      response.destroy() // nobody reads what it says beyond that
    })
    sent.on('error', reject)
    sent.end(body)
  })
