// The key that signs a person in. Made at the first start, shown once, stored as a hash.
import { refuse } from '../core/errors.ts'
import { newSecret, OPERATOR_PREFIX, SECRET_SHAPE, sha256 } from '../core/ids.ts'
import type { Services } from './services.ts'
import { offerSetting } from '../stores/settings.ts'

/** Why no key is made here, and what to do instead. */
export const OPERATOR_KEY_IS_SET =
  'OPERATOR_KEY is set in the environment and takes precedence. Sign in with it, or start the server with another one.'

const made = () => OPERATOR_PREFIX + newSecret()
const MADE = new RegExp(`^${OPERATOR_PREFIX}${SECRET_SHAPE}$`)
/** Has a key the shape of those that are made here, and so their 192 random bits? */
export const isMadeHere = (key: string) => MADE.test(key)

/** A key at the first start of all; undefined when there is one already. */
export const firstOperatorKey = async ({ database, config, changeSetting }: Services): Promise<string | undefined> => {
  if (config.OPERATOR_KEY) return undefined
  const key = made()
  if (!(await offerSetting(database, 'operator_key_hash', sha256(key)))) return undefined
  await changeSetting('operator_key_hash', sha256(key)) // so that this instance and those that started with it know it
  return key
}

/** A new key in place of the old one; everybody who signed in with that has to sign in again. 409 where OPERATOR_KEY is set: it would
 *  sign nobody in. */
export const newOperatorKey = async ({ config, changeSetting }: Pick<Services, 'config' | 'changeSetting'>): Promise<string> => {
  if (config.OPERATOR_KEY) refuse('conflict', OPERATOR_KEY_IS_SET)
  const key = made()
  await changeSetting('operator_key_hash', sha256(key))
  return key
}
