// The settings page: the link that agents are told, the loop guard, and what the environment says.
import { setCookie } from 'hono/cookie'
import { THEMES } from '../../../components/theme.ts'
import { SettingsPage } from '../../../components/settings-page.tsx'
import type { VariableGroup, VariableRow } from '../../../components/variables-table.tsx'
import { VARIABLES, type Config, type VariableName } from '../../config.ts'
import { refuse } from '../../core/errors.ts'
import { LOOP_MODES, loopSettings } from '../../loop-guard.ts'
import type { Services } from '../../services.ts'
import type { Http } from '../http.ts'
import { calledHost, calledScheme, linkInForce, serverLink } from '../origin.ts'
import { reach, type Reached } from '../link-check.ts'
import { assertActor } from './act.ts'
import { frameOf, localPath, page, seeOther, THEME_COOKIE, type Site } from './answer.tsx'
import { formOf, valuesOf } from './form.ts'

const NOTICES: Record<string, string> = {
  saved: 'Saved. Agents are given this link from now on.',
  saved_guard: 'Loop guard saved.',
  reset: "Saved link removed; the environment's link is used again.",
}

/** GET /settings */
export const settingsPage = (c: Http, site: Site): Promise<Response> => {
  const text = NOTICES[c.req.query('done') ?? '']
  return settings(c, site, text ? { ok: true, text } : undefined)
}

/** POST /settings/mcp-url: `mcp_url` saves another link, `reset` forgets it. For a signed-in person alone. */
export const saveLink = async (c: Http, site: Site): Promise<Response> => {
  assertActor(c, site)
  const form = await formOf(c)
  if (form.get('reset') !== null) {
    await site.services.changeSetting('mcp_url', undefined)
    return seeOther(c, '/settings?done=reset')
  }
  const typed = (form.get('mcp_url') ?? '').trim()
  const parsed = VARIABLES.MCP_URL.schema.safeParse(typed)
  if (!parsed.success || typed.length > 2_000) {
    return settings(c, site, { ok: false, text: `Not a valid link: it ${parsed.error?.issues[0]?.message ?? 'is too long'}.` }, typed, 400)
  }
  await site.services.changeSetting('mcp_url', parsed.data)
  return seeOther(c, '/settings?done=saved')
}

/** POST /settings/check: does the current link work? For a signed-in person alone, because this server makes the call. */
export const checkLink = async (c: Http, site: Site): Promise<Response> => {
  assertActor(c, site)
  return settings(c, site, await reach(linkInForce(c, site.services).url))
}

/** POST /settings/loop-guard: `mode`, `posts` and `likeness` are saved, `reset` forgets them. For a signed-in person alone. */
export const saveLoopGuard = async (c: Http, site: Site): Promise<Response> => {
  assertActor(c, site)
  const { reset, ...values } = valuesOf(await formOf(c))
  const chosen = loopSettings.safeParse(values)
  if (reset === undefined && !chosen.success) {
    const [issue] = chosen.error.issues
    return settings(c, site, { ok: false, text: `Not saved: ${issue!.path.join('.')}: ${issue!.message}` }, undefined, 400)
  }
  await site.services.changeSetting('loop_guard', reset === undefined ? JSON.stringify(chosen.data) : undefined)
  return seeOther(c, '/settings?done=saved_guard')
}

/** POST /theme: `theme`, and `back` to where the reader was. */
export const saveTheme = async (c: Http, { services }: Site): Promise<Response> => {
  const form = await formOf(c)
  const theme =
    THEMES.find((name) => name === form.get('theme')) ??
    refuse('invalid_request', `theme must be ${THEMES.join(', ')}.`, { field: 'theme' })
  const secure = calledScheme(c, services) === 'https'
  setCookie(c, THEME_COOKIE, theme, { path: '/', maxAge: 31_536_000, sameSite: 'Lax', httpOnly: true, secure })
  return seeOther(c, localPath(form.get('back') ?? undefined))
}

const settings = (c: Http, site: Site, notice: Reached | undefined, typed?: string, status: 200 | 400 = 200) => {
  const { services } = site
  const [protocol, host] = [calledScheme(c, services), calledHost(c, services)]
  const otherwise = services.config.MCP_URL ?? `${protocol}://${host}/mcp`
  const link = { ...serverLink(c, services), source: linkInForce(c, services).source, otherwise }
  const frame = { ...frameOf(c, site), path: '/settings' }
  const loopGuard = { modes: LOOP_MODES, ...services.loops.settings(), saved: services.setting('loop_guard') !== undefined }
  return page(c, <SettingsPage {...{ frame, link, notice, typed, loopGuard }} groups={groupsOf(services)} />, status)
}

const GROUPS: { id: string; title: string; about: string; names: VariableName[] }[] = [
  {
    id: 'thresholds',
    title: 'Thresholds',
    about: 'When a team counts as idle or gone, and the limits on requests, waits and streams.',
    names: [
      'IDLE_AFTER',
      'DISCONNECTED_AFTER',
      'IDLE_LIMIT',
      'LOOP_GUARD',
      'METADATA_MIN_INTERVAL',
      'RATE_LIMIT',
      'MAX_WAITS',
      'MAX_STREAMS',
    ],
  },
  {
    id: 'permissions',
    title: 'Permissions',
    about: 'Who may connect, and who may do what.',
    names: ['ACCESS_TOKEN', 'VIEWER_PASSWORD', 'OPERATOR_KEY', 'CONVENER_ONLY', 'ONE_SESSION_PER_TEAM', 'ALLOWED_HOSTS', 'TRUST_PROXY'],
  },
]
const REST = { id: 'server', title: 'Server', about: 'Where it listens and where it stores its data.' }

const groupsOf = (services: Services): VariableGroup[] => {
  const named = new Set(GROUPS.flatMap(({ names }) => names))
  const others = (Object.keys(VARIABLES) as VariableName[]).filter((name) => !named.has(name))
  return [...GROUPS, { ...REST, names: others }].map(({ names, ...group }) => ({
    ...group,
    variables: names.map((name) => variableRow(services, name)),
  }))
}

const variableRow = (services: Services, name: VariableName): VariableRow => {
  const { config } = services
  const { about, secret }: { about: string; secret?: boolean } = VARIABLES[name]
  const saved = savedOn(services, name)
  const value = saved ?? textOf(config[name])
  const source = saved ? 'saved' : config.given.has(name) ? 'environment' : 'default'
  return { name, about, value: secret && value !== undefined ? 'set' : value, source }
}

// These two can be set on this page, and what is saved here comes before the environment.
const savedOn = ({ setting, loops }: Services, name: VariableName): string | undefined => {
  if (name === 'MCP_URL') return setting('mcp_url')
  return name === 'LOOP_GUARD' && setting('loop_guard') !== undefined ? loops.settings().mode : undefined
}

const textOf = (value: Config[VariableName]): string | undefined =>
  value === undefined ? undefined : Array.isArray(value) ? value.join(', ') : String(value)
