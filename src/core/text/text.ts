// What no text may contain, whichever door it comes through. Any other text is stored as it came.
import { refuse } from '../errors.ts'
import { OPERATOR_PREFIX, SECRET_SHAPE, UUID_SHAPE } from '../ids.ts'
import { KEY_PREFIX_SHAPE, KEY_REST_SHAPE } from '../key-scopes.ts'
import { escapeInvisible } from './escape-invisible.ts'

// The shapes of a team's token, of API keys and of operator keys: a text with one of them would open a room to its readers. The capture
// group is what redaction leaves: a team's handle, a key's prefix.
const SECRETS = [
  new RegExp(`(${UUID_SHAPE})\\.${SECRET_SHAPE}`, 'i'),
  new RegExp(`(${KEY_PREFIX_SHAPE})${KEY_REST_SHAPE}`, 'i'),
  // Not within loop_…, and not an identifier in lower case.
  new RegExp(`(?<![A-Za-z0-9])(${OPERATOR_PREFIX})(?=[\\w-]{0,31}[A-Z])${SECRET_SHAPE}`),
]
const EVERY_SECRET = SECRETS.map((shape) => new RegExp(shape, `g${shape.flags}`))
// What has no shape, because an operator chose it. Of the whole process: a text takes many ways, and each must know.
const chosen = new Set<string>()
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/

export const utf8Bytes = (text: string) => Buffer.byteLength(text)

/** From now on this text is a credential of ours too. Only for one that may be tried without a limit anyway: whoever writes can find out
 *  whether a text is refused. */
export const keepSecret = (secret: string): void => {
  chosen.add(secret)
  chosen.add(JSON.stringify(secret).slice(1, -1)) // as it stands in a line of the log
}

export const holdsSecret = (text: string, own?: string) =>
  (own !== undefined && text.includes(own)) || SECRETS.some((shape) => shape.test(text)) || holdsChosen(text)

const holdsChosen = (text: string): boolean => chosen.size > 0 && [...chosen].some((secret) => text.includes(secret))

/** The text with the secret part of everything that looks like one of our credentials removed. For logs and imports. */
export const redacted = (text: string) => withoutChosen(EVERY_SECRET.reduce((kept, shape) => kept.replace(shape, '$1…'), text))

const withoutChosen = (text: string): string =>
  holdsChosen(text) ? [...chosen].reduce((kept, one) => kept.replaceAll(one, '…'), text) : text

/** Refuses a value if any string in it cannot be stored or would give a credential away. `own`: the caller's own secret. */
export const checkTexts = (value: unknown, own?: string, field = ''): void => {
  if (typeof value === 'string') return checkText(value, own, field)
  if (typeof value !== 'object' || value === null) return
  for (const key in value) checkTexts((value as Record<string, unknown>)[key], own, field ? `${field}.${key}` : key)
}

const checkText = (text: string, own: string | undefined, field: string) => {
  if (text.includes('\0')) refuse('invalid_request', `${field} contains the character U+0000; remove it.`, { field })
  if (!text.isWellFormed()) refuse('invalid_request', `${field} contains half of a surrogate pair; send whole characters.`, { field })
  if (holdsSecret(text, own)) {
    refuse('secret_in_text', `${field} contains a token or key, which would open the room to every reader. Remove it.`, { field })
  }
}

/** How many characters the name of a person, a key or a runner may have. */
export const LONGEST_NAME = 100

/** Whether a name is not blank and has no invisible or control characters, which would make it look like another one. */
export const nameIsPlain = (name: string) => !isBlank(name) && escapeInvisible(name) === name && !CONTROL.test(name)

/** What names are compared by: two names that look the same to a reader have the same `nameKey`. */
export const nameKey = (name: string) =>
  (PLAIN_WORDS.test(name)
    ? name
    : name
        .normalize('NFKC')
        .replace(UNSEEN, '')
        .replace(/[\s\u2800]+/g, ' ')
        .trim()
  ).toLowerCase()

/** Whether a text shows nothing at all. Not decided by its `nameKey`, which can be 18 times as long (U+FDFA). */
export const isBlank = (text: string) => !SEEN.test(text)
const PLAIN_WORDS = /^[!-~]+(?: [!-~]+)*$/ // most names: only their case is changed
const UNSEEN = /\p{Default_Ignorable_Code_Point}/gu
const SEEN = /[^\s\u2800\p{Default_Ignorable_Code_Point}]/u
