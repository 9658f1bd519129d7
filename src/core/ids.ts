// Identifiers and credentials. A team's credential is `<handle>.<secret>`: the handle is public, and only a hash of the secret is stored.
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/** A UUID, for a regular expression. */
export const UUID_SHAPE = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
const UUID = new RegExp(`^${UUID_SHAPE}$`)
const UUID_WITHIN = new RegExp(UUID_SHAPE, 'i')
export const UUID_LENGTH = 36
/** What `newSecret` makes, for a regular expression. */
export const SECRET_SHAPE = '[A-Za-z0-9_-]{32}'
const TOKEN = new RegExp(`^${UUID_SHAPE}\\.${SECRET_SHAPE}$`)
/** An operator key is this and a secret. */
export const OPERATOR_PREFIX = 'op_'

export interface Token {
  handle: string
  secret: string
}

export const isUuid = (text: string) => UUID.test(text)

/** The id in a text, however it was copied: in capitals, with blanks around it, or within a link. A text without an id is returned as it
 *  is. */
export const idWithin = (text: string): string => (isUuid(text) ? text : (UUID_WITHIN.exec(text)?.[0].toLowerCase() ?? text))

/** The two halves of a credential, or undefined for a text of another shape. Whether it is valid, only the stored hash tells. */
export const parseToken = (text: string): Token | undefined =>
  TOKEN.test(text) ? { handle: text.slice(0, UUID_LENGTH), secret: text.slice(UUID_LENGTH + 1) } : undefined

/** 192 random bits in 32 characters that need no quoting in addresses, headers and shells. */
export const newSecret = () => randomBytes(24).toString('base64url')

/** A secret made from another: the same parts give the same one again, so that none need be stored, and none of them tells the others. */
export const derivedSecret = (from: string, ...parts: string[]) =>
  createHmac('sha256', from).update(parts.join('\n')).digest().subarray(0, 24).toString('base64url')

/** A key of a program, with 128 random bits in hex. */
export const newKey = (scope: string, random = randomBytes(16).toString('hex')) => `ca_${scope}_${random}`

export const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

/** A UUID made from a text: the same one every time. Of version 8, which is for UUIDs made by a rule of one's own. */
export const uuidOf = (text: string): string => {
  const hex = sha256(text)
  const variant = ((Number.parseInt(hex[16]!, 16) & 0x3) | 0x8).toString(16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** Compares two strings in a time that does not depend on where they differ. */
export const sameText = (a: string, b: string) => {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}

/** A UUID that sorts by the time it was made (version 7): new rows land at the end of their index. */
export const uuid7 = (): string => {
  const now = Date.now()
  if (now !== latest.now) {
    const time = now.toString(16).padStart(12, '0')
    latest = { now, prefix: `${time.slice(0, 8)}-${time.slice(8)}-7` }
  }
  return latest.prefix + crypto.randomUUID().slice(15)
}
let latest = { now: 0, prefix: '' } // the prefix of the current millisecond: a batch makes many ids in it
