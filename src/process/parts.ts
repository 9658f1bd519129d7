// What the services are made of, each made before what needs it.
import type { Database } from '../../db/database.ts'
import type { Config } from '../config.ts'
import { baseOfLink, urlAt } from '../core/address.ts'
import { newSecret } from '../core/ids.ts'
import { Presence } from '../core/presence.ts'
import { Clock } from '../core/runtime/clock.ts'
import type { Log } from '../core/runtime/log.ts'
import { Metrics } from '../core/runtime/metrics.ts'
import { Notifier } from '../log/notifier.ts'
import { LoopGuard, loopSettingsOf } from '../loops/guard.ts'
import { Wakes, wakesPerHourOf } from '../loops/wakes.ts'
import { contactFor, newPushKeys } from '../notices/push.ts'
import { offerSetting, savedSettings } from '../stores/settings.ts'
import { createCredentials, KEY_KIND, SIGN_IN_KIND } from './credentials.ts'
import { CUT_KIND, createPublisher } from './publish.ts'

export interface PartOptions {
  /** The names of this server's tools: a session whose agent called one is of the kind mcp_internal. */
  ownTools?: ReadonlySet<string>
  clock?: Clock
  /** Where it listens, once it does; what HOST and PORT say unless given. */
  ownUrl?: () => string
}

export type Parts = Awaited<ReturnType<typeof createParts>>

export const createParts = async (database: Database, config: Config, log: Log, options: PartOptions) => {
  const { clock = new Clock(), ownTools, ownUrl = () => urlAt(config.HOST, config.PORT) } = options
  const presence = new Presence(clock)
  const metrics = new Metrics()
  const stopping = new AbortController()
  const instance = database.engine === 'postgres' ? newSecret().slice(0, 8) : undefined
  const notifier = instance === undefined ? undefined : new Notifier(database, instance, log)
  await offerSetting(database, 'push_keys', newPushKeys()) // for good: browsers subscribe to this very pair
  const settings = await savedSettings(database, notifier && ((tx) => notifier.settingsSaved(tx)))
  const loopSettings = loopSettingsOf(config)
  const loops = new LoopGuard(database, clock.now, () => loopSettings(settings.get('loop_guard')))
  const wakes = new Wakes(database, metrics, () => wakesPerHourOf(config, settings.get('wakes_per_hour')))
  const publisher = createPublisher(database, { metrics, loops, notifier, ownTools })

  const credentials = createCredentials(database, () => notifier?.hasReceivedLately() ?? true)
  for (const kind of [SIGN_IN_KIND, KEY_KIND]) publisher.on(kind, credentials.forget)
  publisher.on(CUT_KIND, (session) => presence.forgetCursors(session))

  const base = () => {
    const link = settings.get('mcp_url') ?? config.MCP_URL
    return link ? baseOfLink(link) : ownUrl()
  }
  const pushIdentity = () => ({ keys: settings.get('push_keys')!, contact: contactFor(base()) })
  const made = {
    clock,
    presence,
    metrics,
    stopping,
    instance,
    notifier,
    settings,
    loops,
    wakes,
    publisher,
    credentials,
    base,
    pushIdentity,
  }
  return { database, config, log, ...made }
}
