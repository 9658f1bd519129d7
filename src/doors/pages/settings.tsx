import { setCookie } from 'hono/cookie'
import { THEMES } from '../../../components/theme.ts'
import { SettingsPage } from '../../../components/settings-page.tsx'
import type { VariableRow } from '../../../components/variables-table.tsx'
import { VARIABLES, type Config, type VariableName } from '../../config.ts'
import { refuse } from '../../core/errors.ts'
import type { Services } from '../../services.ts'
import { personOf } from '../cookies.ts'
import type { Http } from '../http.ts'
import { calledHost, calledScheme, linkInForce } from '../origin.ts'
import { frameOf, localPath, page, seeOther, THEME_COOKIE, type Site } from './answer.tsx'
import { formOf } from './form.ts'
import { linkOf } from './link.ts'

const NOTICES: Record<string, string> = {
  saved: 'Saved. Agents are told this link from now on.',
  reset: "The saved link is forgotten; the environment's holds again.",
}

/** GET /settings */
export const settingsPage = (c: Http, site: Site): Promise<Response> => {
  const text = NOTICES[c.req.query('done') ?? '']
  return settings(c, site, text ? { ok: true, text } : undefined)
}

/** POST /settings/mcp-url: `mcp_url` saves another link, `reset` forgets it. For a signed-in person alone. */
export const saveLink = async (c: Http, site: Site): Promise<Response> => {
  const person = personOf(c, site.services)
  if (!person) refuse('unauthorized', 'Sign in to change the settings.')
  if (person!.role !== 'person') refuse('forbidden', "You came in with the viewer's password, which reads and changes nothing.")
  const form = await formOf(c)
  if (form.get('reset') !== null) {
    await site.services.changeSetting('mcp_url', undefined)
    return seeOther(c, '/settings?done=reset')
  }
  const typed = (form.get('mcp_url') ?? '').trim()
  const parsed = VARIABLES.MCP_URL.schema.safeParse(typed)
  if (!parsed.success || typed.length > 2_000) {
    return settings(c, site, { ok: false, text: `This is no link: it ${parsed.error?.issues[0]?.message ?? 'is too long'}.` }, typed, 400)
  }
  await site.services.changeSetting('mcp_url', parsed.data)
  return seeOther(c, '/settings?done=saved')
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

const settings = (c: Http, site: Site, notice: { ok: boolean; text: string } | undefined, typed?: string, status: 200 | 400 = 200) => {
  const { services } = site
  const [protocol, host] = [calledScheme(c, services), calledHost(c, services)]
  const otherwise = services.config.MCP_URL ?? `${protocol}://${host}/mcp`
  const link = { ...linkOf(c, services), source: linkInForce(c, services).source, otherwise }
  const frame = { ...frameOf(c, site), path: '/settings' }
  return page(c, <SettingsPage {...{ frame, link, notice, typed }} variables={variablesOf(services)} />, status)
}

const variablesOf = ({ config }: Services): VariableRow[] =>
  (Object.keys(VARIABLES) as VariableName[]).map((name) => {
    const {
      about,
      fallback,
      secret,
      schema,
    }: { about: string; fallback?: string; secret?: boolean; schema: (typeof VARIABLES)[VariableName]['schema'] } = VARIABLES[name]
    const value = textOf(config[name])
    const preset = fallback === undefined ? undefined : textOf(schema.parse(fallback))
    return { name, about, value: secret && value !== undefined ? 'set' : value, source: value === preset ? 'default' : 'environment' }
  })

const textOf = (value: Config[VariableName]): string | undefined =>
  value === undefined ? undefined : Array.isArray(value) ? value.join(', ') : String(value)
