import { sha256 } from '../core/ids.ts'
import type { SettingName } from '../stores/settings.ts'

interface Keys {
  config: { OPERATOR_KEY: string | undefined; VIEWER_PASSWORD: string | undefined }
  setting: (name: SettingName) => string | undefined
}

/** What the cookies of signed-in people are signed with. A new operator key, or another viewer's password, signs everybody out. */
export const signInKey = ({ config, setting }: Keys): string =>
  `${setting('server_secret')}/${config.OPERATOR_KEY ? sha256(config.OPERATOR_KEY) : setting('operator_key_hash')}/${config.VIEWER_PASSWORD ?? ''}`

/** A mark of the sign-ins that hold: what was made under another one belongs to somebody who has been signed out. */
export const signInMark = (keys: Keys): string => sha256(signInKey(keys))
