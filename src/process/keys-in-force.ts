import { sha256 } from '../core/ids.ts'
import type { SettingName } from '../stores/settings.ts'

interface Keys {
  config: { OPERATOR_KEY: string | undefined; VIEWER_PASSWORD: string | undefined }
  setting: (name: SettingName) => string | undefined
}

/** A hash of the keys that sign people in: a sign-in that was made under another hash is over. */
export const keysInForce = ({ config, setting }: Keys): string => {
  const operatorKey = config.OPERATOR_KEY ? sha256(config.OPERATOR_KEY) : setting('operator_key_hash')
  return sha256(`${setting('server_secret')}/${operatorKey}/${config.VIEWER_PASSWORD ?? ''}`)
}
