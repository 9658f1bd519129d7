// The settings page: the link that agents are given, the loop guard, wakes, and the values of the environment's variables.
import { setCookie } from 'hono/cookie'
import { z } from 'zod'
import type { Notice } from '../../../components/site/link-card.tsx'
import { THEMES } from '../../../components/site/theme.ts'
import { SettingsPage } from '../../../components/site/settings-page.tsx'
import type { VariableGroup, VariableRow } from '../../../components/site/variables-table.tsx'
import { LOOP_MODES, MOST_WAKES, VARIABLES, type Config, type VariableName } from '../../config.ts'
import { refuse } from '../../core/errors.ts'
import { inBytes } from '../../core/text/numbers.ts'
import { loopSettings, loopSettingsOf } from '../../loops/guard.ts'
import { wakesPerHour } from '../../loops/wakes.ts'
import type { Services } from '../../process/services.ts'
import type { SettingName } from '../../stores/settings.ts'
import { actorOf } from '../../doors/http/cookies.ts'
import type { Http } from '../../doors/http/http.ts'
import { answersTo } from '../../doors/http/guards.ts'
import { calledHost, calledScheme, linkInForce, serverLink } from '../../doors/http/origin.ts'
import { reach, type LinkCheck } from '../../doors/http/link-check.ts'
import { assertActor } from '../forms/perform-as-person.ts'
import { frameOf, localPath, page, seeOther, THEME_COOKIE, type Site } from '../respond.tsx'
import { formOf, valuesOf } from '../forms/fields.ts'
import { programUrl } from './connect.tsx'
import { noticesView } from './notices-view.ts'

/** GET /settings; ?done= names the form that was just handled. */
export const settingsPage = async (c: Http, site: Site): Promise<Response> => renderSettings(c, site, await noticeOf(c, site))

const noticeOf = async (c: Http, { services }: Site): Promise<Notice | undefined> => {
  const { url } = linkInForce(c, services)
  switch (c.req.query('done')) {
    case 'saved':
      return actorOf(c, services) ? savedLink(await reach(url)) : undefined // this server calls the link for signed-in people alone
    case 'saved_guard':
      return { variant: 'ok', text: 'Loop guard saved.' }
    case 'reset_guard':
      return { variant: 'ok', text: 'What was saved for the loop guard is forgotten.' }
    case 'saved_wakes':
      return { variant: 'ok', text: 'Wakes per hour saved.' }
    case 'reset_wakes':
      return { variant: 'ok', text: 'The number of wakes that was saved is forgotten.' }
    case 'told':
      return { variant: 'ok', text: 'This browser is told from now on. Send a test to see it.', at: 'notifications' }
    case 'told_no_more':
      return { variant: 'ok', text: 'That browser is told no more.', at: 'notifications' }
    case 'reset':
      return { variant: 'ok', text: `The saved link is forgotten. Agents are given ${url} from now on.` }
    default:
      return undefined
  }
}

const savedLink = ({ ok, text }: LinkCheck): Notice =>
  ok
    ? { variant: 'ok', text: `Saved. Agents are given this link from now on. ${text}` }
    : { variant: 'warn', text: `Saved, and agents are given this link from now on, but it does not seem to work. ${text}` }

/** POST /settings/mcp-url: `mcp_url` is saved as the link; an empty one, or `reset`, forgets the saved link, and MCP_URL or else the
 *  request's origin holds again. For signed-in people alone. */
export const saveLink = async (c: Http, site: Site): Promise<Response> => {
  assertActor(c, site)
  const form = await formOf(c)
  const given = form.get('mcp_url')
  const typed = (given ?? '').trim()
  if (form.get('reset') !== null || (given !== null && typed === '')) return changeLink(c, site, undefined)
  const parsed = VARIABLES.MCP_URL.schema.safeParse(typed)
  if (!parsed.success || typed.length > 2_000) {
    return renderSettings(
      c,
      site,
      { variant: 'destructive', text: `Not a valid link: it ${parsed.error?.issues[0]?.message ?? 'is too long'}.` },
      typed,
      400,
    )
  }
  return changeLink(c, site, parsed.data)
}

// A change that shut out the name by which this page was called could not be taken back on it.
const changeLink = async (c: Http, site: Site, link: string | undefined): Promise<Response> => {
  const host = calledHost(c, site.services)
  if (!answersTo(site.services, host, link)) {
    const text = `Not changed: this server would no longer answer to ${host}, by which you called it. Add that host to ALLOWED_HOSTS first, or change the link on the server's machine.`
    return renderSettings(c, site, { variant: 'destructive', text }, link, 400)
  }
  await site.services.changeSetting('mcp_url', link)
  return seeOther(c, `/settings?done=${link === undefined ? 'reset' : 'saved'}`)
}

/** POST /settings/check: whether the current link works. For signed-in people alone, because this server makes the call. */
export const checkLink = async (c: Http, site: Site): Promise<Response> => {
  assertActor(c, site)
  const { ok, text } = await reach(linkInForce(c, site.services).url)
  return renderSettings(c, site, { variant: ok ? 'ok' : 'destructive', text })
}

/** POST /settings/loop-guard: `mode`, `posts` and `likeness` are saved, `reset` forgets them. For signed-in people alone. */
export const saveLoopGuard = (c: Http, site: Site): Promise<Response> =>
  saveForm(c, site, { setting: 'loop_guard', about: 'guard', schema: loopSettings, stored: JSON.stringify })

/** POST /settings/wakes: `wakes_per_hour` is saved, `reset` forgets it. For signed-in people alone. */
export const saveWakes = (c: Http, site: Site): Promise<Response> =>
  saveForm(c, site, { setting: 'wakes_per_hour', about: 'wakes', schema: WAKES, stored: ({ wakes_per_hour }) => String(wakes_per_hour) })

const WAKES = z.strictObject({ wakes_per_hour: wakesPerHour })

interface SavedForm<Values> {
  setting: SettingName
  about: string
  schema: z.ZodType<Values>
  stored: (values: Values) => string
}

const saveForm = async <Values,>(c: Http, site: Site, { setting, about, schema, stored }: SavedForm<Values>): Promise<Response> => {
  assertActor(c, site)
  const { reset, ...values } = valuesOf(await formOf(c))
  const chosen = schema.safeParse(values)
  if (reset === undefined && !chosen.success) {
    const [issue] = chosen.error.issues
    const text = `Not saved: ${issue!.path.join('.')}: ${issue!.message}`
    return renderSettings(c, site, { variant: 'destructive', text }, undefined, 400)
  }
  await site.services.changeSetting(setting, reset === undefined ? stored(chosen.data!) : undefined)
  return seeOther(c, `/settings?done=${reset === undefined ? 'saved' : 'reset'}_${about}`)
}

/** POST /theme: `theme`, and in `back` the path where the reader was. */
export const saveTheme = async (c: Http, { services }: Site): Promise<Response> => {
  const form = await formOf(c)
  const theme =
    THEMES.find((name) => name === form.get('theme')) ??
    refuse('invalid_request', `theme must be ${THEMES.join(', ')}.`, { field: 'theme' })
  const secure = calledScheme(c, services) === 'https'
  setCookie(c, THEME_COOKIE, theme, { path: '/', maxAge: 31_536_000, sameSite: 'Lax', httpOnly: true, secure })
  return seeOther(c, localPath(form.get('back') ?? undefined))
}

/** The page, with the outcome of a form. `typed`: a link that was rejected. */
export const renderSettings = async (c: Http, site: Site, notice: Notice | undefined, typed?: string, status: 200 | 400 = 200) => {
  const { services } = site
  const [protocol, host] = [calledScheme(c, services), calledHost(c, services)]
  const otherwise = services.config.MCP_URL ?? `${protocol}://${host}/mcp`
  const link = {
    ...serverLink(c, services),
    source: linkInForce(c, services).source,
    otherwise,
    configured: services.config.MCP_URL !== undefined,
  }
  const frame = { ...frameOf(c, site), path: '/settings' }
  const loopGuard = {
    modes: LOOP_MODES,
    ...services.loops.settings(),
    saved: services.setting('loop_guard') !== undefined,
    otherwise: { ...loopSettingsOf(services.config)(undefined), configured: services.config.given.has('LOOP_GUARD') },
  }
  const wakes = {
    perHour: services.wakes.perHour(),
    most: MOST_WAKES,
    saved: services.setting('wakes_per_hour') !== undefined,
    otherwise: { perHour: services.config.WAKES_PER_HOUR, configured: services.config.given.has('WAKES_PER_HOUR') },
  }
  const program = programUrl(c, site)
  const notices = await noticesView(c, services)
  return page(
    c,
    <SettingsPage {...{ frame, link, program, notice, typed, loopGuard, wakes, notices }} groups={groupsOf(services)} />,
    status,
  )
}

const GROUPS: { id: string; title: string; about: string; names: VariableName[] }[] = [
  {
    id: 'thresholds',
    title: 'Thresholds',
    about: 'When a team counts as idle or gone, when claims and proposals end, and the limits on requests, waits and streams.',
    names: [
      'IDLE_AFTER',
      'DISCONNECTED_AFTER',
      'IDLE_LIMIT',
      'CLAIM_LEASE',
      'PROPOSAL_EXPIRES_AFTER',
      'LOOP_GUARD',
      'WAKES_PER_HOUR',
      'METADATA_MIN_INTERVAL',
      'RATE_LIMIT',
      'MAX_WAITS',
      'MAX_STREAMS',
      'MAX_WAITS_PER_ADDRESS',
      'MAX_STREAMS_PER_ADDRESS',
    ],
  },
  {
    id: 'permissions',
    title: 'Permissions',
    about: 'Who may connect, and who may do what.',
    names: ['ACCESS_TOKEN', 'VIEWER_PASSWORD', 'OPERATOR_KEY', 'CONVENER_ONLY', 'ONE_SESSION_PER_TEAM', 'ALLOWED_HOSTS', 'TRUST_PROXY'],
  },
  {
    id: 'notifications',
    title: 'Notifications',
    about:
      'How people are told that they are needed: when an agent asks for permission, a team asks or proposes something, teams repeat themselves, lost their convener or are woken no more, and when a session is concluded.',
    names: ['NOTIFY_URL'],
  },
  {
    id: 'agents',
    title: 'Driven agents',
    about: 'How long they work and wait for an answer, what they may do by themselves, and which model sums up what they did.',
    names: ['TASK_TIMEOUT', 'PERMISSION_WAIT', 'SELF_RAISE', 'ANTHROPIC_API_KEY', 'ANTHROPIC_BASE_URL', 'SUMMARY_MODEL'],
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
  const value = saved ?? textOf(name, config[name])
  const source = saved ? 'saved' : config.given.has(name) ? 'environment' : 'default'
  return { name, about, value: secret && value !== undefined ? 'set' : value, source }
}

// Three variables can be set on this page; a value saved here wins over the environment.
const savedOn = ({ setting, loops }: Services, name: VariableName): string | undefined => {
  if (name === 'MCP_URL') return setting('mcp_url')
  if (name === 'WAKES_PER_HOUR') return setting('wakes_per_hour')
  return name === 'LOOP_GUARD' && setting('loop_guard') !== undefined ? loops.settings().mode : undefined
}

const textOf = (name: VariableName, value: Config[VariableName]): string | undefined => {
  if (typeof value === 'number' && name.endsWith('_BYTES')) return `${value} (${inBytes(value)})`
  return value === undefined ? undefined : Array.isArray(value) ? value.join(', ') : String(value)
}
