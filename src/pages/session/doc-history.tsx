// The document's versions: who wrote which, what changed between any two, each as a file, and how an older one is restored.
import { renderToStaticMarkup } from 'react-dom/server'
import { diffRows, type DiffRow } from '../../../components/document/diff-rows.ts'
import { DiffRows, DIFF_VIEWS, type DiffView } from '../../../components/document/diff.tsx'
import type { Comparison, Version } from '../../../components/document/doc-history.ts'
import { DocHistoryPage } from '../../../components/document/doc-history-page.tsx'
import { ago } from '../../../components/parts/time.ts'
import { diffLines } from '../../core/diff.ts'
import { refuse, STATUS, type ErrorBody } from '../../core/errors.ts'
import { pause } from '../../core/pause.ts'
import { updateSessionDoc } from '../../rooms/document.ts'
import { existingSession } from '../../rooms/preconditions.ts'
import type { Services } from '../../process/services.ts'
import { documentVersions, readVersion } from '../../stores/documents.ts'
import { roster } from '../../stores/members.ts'
import type { Http } from '../../doors/http/http.ts'
import { numberIn } from '../../doors/http/query.ts'
import { act, assertActor, nextKey, problemOf } from '../forms/perform-as-person.ts'
import { frameOf, page, seeOther, type Site } from '../respond.tsx'
import { castOf } from './feed.tsx'
import { fileNameOf } from './exports.ts'
import { formOf, valuesOf } from '../form.ts'
import { knownLines, rememberLines, type Changed } from './line-counts.ts'

const A_PAGE = 25
const ROWS = 1_000
const SLICE = 100 // rows rendered before others get their turn: 1 ms
const COUNTED_WITHIN_MS = 250 // lines of the versions on one page; what is left is counted at the next visit

/** GET /sessions/:id/history, with ?from= and ?to= for what is compared, ?view=split, and ?before= for older versions. */
export const docHistoryPage = (c: Http, site: Site): Promise<Response> => history(c, site)

/** GET /sessions/:id/history/12.md */
export const versionFile = async (c: Http, { services }: Site): Promise<Response> => {
  const session = await existingSession(services.database, c.req.param('id')!)
  const version = Number.parseInt(c.req.param('file')!, 10)
  const { content } = await versionOf(services, session.id, version)
  return c.body(content, 200, {
    'content-type': 'text/markdown; charset=utf-8',
    'content-disposition': `attachment; filename="${fileNameOf(session.title)}-v${version}.md"`,
    'cache-control': 'no-store',
  })
}

/** POST /sessions/:id/history: writes an older version again, as the newest. */
export const restoreVersion = async (c: Http, site: Site): Promise<Response> => {
  assertActor(c, site)
  const session_id = c.req.param('id')!
  const { version, expected_version, key } = valuesOf(await formOf(c))
  await existingSession(site.services.database, session_id)
  const { content } = await versionOf(site.services, session_id, Number(version))
  const outcome = await act(c, site, updateSessionDoc, key, { session_id, content, expected_version: Number(expected_version) })
  return outcome.ok ? seeOther(c, `/sessions/${session_id}/history`) : history(c, site, outcome.error, key)
}

const versionOf = async ({ database }: Services, sessionId: string, version: number) =>
  (Number.isInteger(version) && version >= 0 && version < 2 ** 31 ? await readVersion(database, sessionId, version) : undefined) ??
  refuse('not_found', `The document has no version ${version}.`)

const history = async (c: Http, site: Site, error?: ErrorBody, key?: string): Promise<Response> => {
  const { services } = site
  const { database, clock } = services
  const session = await existingSession(database, c.req.param('id')!)
  const before = numberIn(c, 'before')
  const [rows, [latest], teams] = await Promise.all([
    documentVersions(database, session.id, before, A_PAGE + 1),
    documentVersions(database, session.id, undefined, 1),
    roster(database, session.id),
  ])
  const newest = latest?.version ?? 0
  const cast = castOf(teams)
  const comparison = newest === 0 ? undefined : await compared(c, services, session.id, newest)
  const until = performance.now() + COUNTED_WITHIN_MS
  const versions: Version[] = []
  for (const { version, teamId, by, at, bytes } of rows.slice(0, A_PAGE)) {
    const changed = await linesChanged(services, session.id, version, until)
    versions.push({ version, by: cast.team(teamId) ?? { name: by, hue: undefined }, at, age: ago(at, clock.now()), bytes, changed })
  }
  const view = {
    sessionId: session.id,
    title: session.title,
    concluded: session.status === 'closed',
    newest,
    versions,
    before,
    older: rows.length > A_PAGE ? versions.at(-1)!.version : undefined,
    comparison,
  }
  const frame = { ...frameOf(c, site), ...(error && { path: `/sessions/${session.id}/history` }) }
  const problem = error && problemOf(error)
  const idempotencyKey = nextKey(key, error)
  return page(c, <DocHistoryPage {...{ frame, idempotencyKey, problem }} history={view} />, error && STATUS[error.code])
}

const compared = async (c: Http, services: Services, sessionId: string, newest: number): Promise<Comparison> => {
  const to = numberIn(c, 'to') ?? newest
  const from = numberIn(c, 'from') ?? Math.max(0, to - 1)
  const [before, after] = await Promise.all([versionOf(services, sessionId, from), versionOf(services, sessionId, to)])
  const view = DIFF_VIEWS.find((name) => name === c.req.query('view')) ?? 'unified'
  const diff = diffLines(before.content, after.content)
  const { added, removed, exact } = diff
  rememberLines(sessionId, from, to, diff)
  await pause()
  const { rows, cut } = diffRows(diff, view === 'split', ROWS)
  return { from, to, view, added, removed, exact, cut, rows: rows.length, html: await rendered(rows, view) }
}

// What a document of 512 KiB costs is spread out, so that nobody waits for more than one piece of it.
const rendered = async (rows: DiffRow[], view: DiffView): Promise<string> => {
  let html = ''
  for (let from = 0; from < rows.length; from += SLICE) {
    await pause()
    html += renderToStaticMarkup(<DiffRows rows={rows.slice(from, from + SLICE)} view={view} />)
  }
  return html
}

const linesChanged = async ({ database }: Services, sessionId: string, version: number, until: number): Promise<Changed | undefined> => {
  const known = knownLines(sessionId, version - 1, version)
  if (known || performance.now() > until) return known
  const [before, after] = await Promise.all([readVersion(database, sessionId, version - 1), readVersion(database, sessionId, version)])
  await pause()
  return rememberLines(sessionId, version - 1, version, diffLines(before?.content ?? '', after?.content ?? ''))
}
