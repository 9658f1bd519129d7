// The page of keys and sign-ins: what there is, making a key or a sign-in link, and ending one or the other. For signed-in people. ?show= names a list of keys,
// ?cursor= and ?sign_ins= say where the shown part of keys and of sign-ins begins.
import { KeysPage, type MadeKey } from '../../../components/site/keys-page.tsx'
import type { MadeLink } from '../../../components/site/sign-in-link.tsx'
import { ago, moment } from '../../../components/parts/time.ts'
import { makeKey, revokeKey } from '../../control/keys/keys.ts'
import { Refusal, refuse, STATUS, type ErrorBody } from '../../core/errors.ts'
import { isUuid } from '../../core/ids.ts'
import { MADE_BY_PEOPLE } from '../../core/key-scopes.ts'
import { quoted } from '../../core/text/shell-word.ts'
import { redacted } from '../../core/text/text.ts'
import { actingPersonOf, personOf } from '../../doors/http/cookies.ts'
import type { Http } from '../../doors/http/http.ts'
import { serverLink } from '../../doors/http/origin.ts'
import { withToolsets } from '../../../components/parts/snippets.ts'
import { pageOf, readCursor } from '../../operations/list-cursor.ts'
import { keysInForce } from '../../process/keys-in-force.ts'
import { endSignIn, linkForPerson } from '../../process/sign-ins.ts'
import { countKeys, KEY_LISTS, listKeys } from '../../stores/keys.ts'
import { listSignIns } from '../../stores/sign-ins.ts'
import { runnerCommand } from '../agents/runner-command.ts'
import { assertActor, problemOf } from '../forms/perform-as-person.ts'
import { formOf, valuesOf } from '../forms/fields.ts'
import { frameOf, page, seeOther, toSignIn, type Site } from '../respond.tsx'
import { valueIn } from '../../core/lookup.ts'

const LISTED = 100
const FIELDS = ['name', 'scope', 'session_id']
const NAME_OF_LINK = 'person' // the field of the other form, in which linkForPerson's name was typed
const ABOUT: Record<(typeof MADE_BY_PEOPLE)[number], string> = {
  full: 'all that agents and readers may',
  read: 'reading everything',
  sess: 'naming one session',
  run: 'for a runner of agents',
}

/** GET /settings/keys; ?done= names what was just ended. */
export const keysPage = async (c: Http, site: Site): Promise<Response> => {
  if (!personOf(c, site.services)) return toSignIn(c, site)
  assertActor(c, site)
  const notice = valueIn(NOTICES, c.req.query('done') ?? '')
  return render(c, site, notice === undefined ? {} : { notice })
}

const NOTICES: Record<string, string> = {
  revoked: 'The key is revoked. What was held or followed with it has ended.',
  ended: 'Signed out there.',
}

/** POST /settings/keys: `name`, `scope`, for sess `session_id`. Shows the key, this one time. */
export const submitKey = async (c: Http, site: Site): Promise<Response> => {
  assertActor(c, site)
  const values = valuesOf(await formOf(c))
  const { id, name = '', scope = '', session_id } = values
  const { name: by } = actingPersonOf(c, site.services)!
  try {
    const wanted = { name, scope, sessionId: session_id, by, ...(id && isUuid(id) && { id }) }
    const key = await makeKey(site.services, wanted)
    return await render(c, site, { made: { key, use: useOf(c, site, key, scope) } })
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return render(c, site, { values, error: error.body })
  }
}

/** POST /settings/keys/revoke: `key_id`. */
export const submitRevoke = async (c: Http, site: Site): Promise<Response> => {
  assertActor(c, site)
  await revokeKey(site.services, await idIn(c, 'key_id'))
  return seeOther(c, '/settings/keys?done=revoked')
}

/** POST /settings/sign-ins/link: `person`, a name; who came by a link needs none for their own. Shows the link, this one time. */
export const submitSignInLink = async (c: Http, site: Site): Promise<Response> => {
  assertActor(c, site)
  const by = actingPersonOf(c, site.services)!
  const typed = (await formOf(c)).get(NAME_OF_LINK) ?? (by.verified ? by.name : '')
  try {
    const { token, name, expiresAt } = await linkForPerson(site.services, typed, by)
    const { base } = serverLink(c, site.services)
    const url = `${base}/sign-in?key=${token.handle}.${token.secret}`
    return await render(c, site, { madeLink: { name, url, until: moment(expiresAt), base } })
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return render(c, site, { values: { [NAME_OF_LINK]: typed }, linkError: error.body })
  }
}

/** POST /settings/sign-ins/end: `sign_in_id`. Whoever ends their own is signed out. */
export const submitSignInEnd = async (c: Http, site: Site): Promise<Response> => {
  assertActor(c, site)
  const id = await idIn(c, 'sign_in_id')
  const isOwn = id === actingPersonOf(c, site.services)?.id
  await endSignIn(site.services, id, !isOwn)
  return seeOther(c, isOwn ? '/' : '/settings/keys?done=ended')
}

const idIn = async (c: Http, field: string): Promise<string> => {
  const id = (await formOf(c)).get(field) ?? ''
  return isUuid(id) ? id : refuse('invalid_request', `${field} must be an id that this page lists.`, { field })
}

const useOf = (c: Http, site: Site, key: string, scope: string): MadeKey['use'] => {
  const { url } = serverLink(c, site.services)
  if (scope === 'run') return { label: 'In a checkout of the repository', line: runnerCommand(c, site, key) }
  if (scope === 'sess') return { label: 'With each call', line: `Authorization: Bearer ${key}` }
  const link = withToolsets(url, scope === 'read' ? 'history' : 'rooms,control')
  return {
    label: 'Claude Code',
    line: `claude mcp add --transport http parley ${quoted(link)} --header "Authorization: Bearer ${key}"`,
  }
}

const sinceWhen = (at: string, nowMs: number) => (nowMs - Date.parse(at) < MINUTE_MS ? 'just now' : `${ago(at, nowMs)} ago`)
const MINUTE_MS = 60_000 // the last use is known to the minute

interface KeysPageParts {
  made?: MadeKey
  notice?: string
  values?: Record<string, string>
  error?: ErrorBody
  madeLink?: MadeLink
  linkError?: ErrorBody
}

const render = async (c: Http, site: Site, { made, notice, values = {}, error, madeLink, linkError }: KeysPageParts) => {
  const { services } = site
  const { id: own, verified: byLink } = actingPersonOf(c, services)!
  const list = KEY_LISTS.find((name) => name === c.req.query('show')) ?? 'good'
  const [after, signInsAfter] = [readCursor(c.req.query('cursor'), { list }), readCursor(c.req.query('sign_ins'))]
  const [counts, keyRows, signInRows] = await Promise.all([
    countKeys(services.database),
    listKeys(services.database, list, { after, limit: LISTED + 1 }),
    listSignIns(services.database, keysInForce(services), { after: signInsAfter, limit: LISTED + 1 }),
  ])
  const keys = pageOf(keyRows, LISTED, ({ madeAt: at, id }) => ({ at, id }), { list })
  const signIns = pageOf(signInRows, LISTED, ({ lastUsedAt: at, id }) => ({ at, id }))
  const since = (at: string) => sinceWhen(at, services.clock.now())
  const view = {
    list,
    counts,
    keys: keys.shown.map(({ madeBy, madeAt, lastUsedAt, revokedAt, ...key }) => ({
      ...key,
      made: `${since(madeAt)} by ${madeBy}`,
      used: lastUsedAt ? since(lastUsedAt) : 'never',
      revoked: revokedAt ? since(revokedAt) : undefined,
    })),
    olderKeys: keys.next_cursor,
    signIns: signIns.shown.map(({ id, name, verified, role, madeAt, lastUsedAt }) => ({
      id,
      name,
      verified,
      own: id === own,
      reader: role === 'reader',
      made: since(madeAt),
      used: since(lastUsedAt),
    })),
    olderSignIns: signIns.next_cursor,
    made,
    notice,
    values: Object.fromEntries(Object.entries(values).map(([name, value]) => [name, redacted(value)])),
    problem: error && problemOf(error, FIELDS),
    madeLink,
    linkProblem: linkError && { ...problemOf(linkError), ...(linkError.details.field === 'name' && { field: NAME_OF_LINK }) },
    byLink,
    scopes: MADE_BY_PEOPLE.map((scope) => ({ scope, about: ABOUT[scope] })),
    nextId: crypto.randomUUID(),
  }
  const problem = error ?? linkError
  return page(c, <KeysPage frame={{ ...frameOf(c, site), path: '/settings/keys' }} view={view} />, problem && STATUS[problem.code])
}
