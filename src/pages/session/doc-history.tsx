// The document's versions: their authors, what changed between any two, each as a file, and restoring an older one.
import { renderToStaticMarkup } from 'react-dom/server'
import { diffRows, type DiffRow } from '../../../components/document/diff-rows.ts'
import { DiffRows, DIFF_VIEWS, type DiffView } from '../../../components/document/diff.tsx'
import type { Comparison, Version } from '../../../components/document/doc-history.ts'
import { DocHistoryPage } from '../../../components/document/doc-history-page.tsx'
import { agoInWords } from '../../../components/parts/time.ts'
import { diffLines } from '../../core/text/diff.ts'
import { refuse, STATUS, type ErrorBody } from '../../core/errors.ts'
import { pause } from '../../core/runtime/pause.ts'
import { updateSessionDoc } from '../../rooms/document/document.ts'
import { existingSession } from '../../rooms/preconditions.ts'
import type { Services } from '../../process/services.ts'
import { documentVersions, readVersion } from '../../stores/documents.ts'
import { roster } from '../../stores/members.ts'
import { takesWrites } from '../../stores/sessions.ts'
import type { Http } from '../../doors/http/http.ts'
import { numberIn, wholeNumber } from '../../doors/http/query.ts'
import { performAsPerson, assertActor, nextIdempotencyKey, problemOf } from '../forms/perform-as-person.ts'
import { frameOf, page, seeOther, type Site } from '../respond.tsx'
import { teamLookup } from './team-lookup.ts'
import { fileNameOf } from './exports.ts'
import { formOf, valuesOf } from '../forms/fields.ts'
import { knownLines, rememberLines, type LineCounts } from './line-counts.ts'

const VERSIONS_LISTED = 25
const DIFF_ROWS = 1_000
const SLICE = 100 // rows rendered before other requests get their turn: 1 ms
const COUNT_WITHIN_MS = 250 // for the changed lines of all versions on a page; what is left is counted at the next visit

/** GET /sessions/:id/history: ?from= and ?to= name the versions compared, ?view=split shows them side by side, ?before= lists older ones. */
export const docHistoryPage = (c: Http, site: Site): Promise<Response> => renderHistory(c, site)

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

/** POST /sessions/:id/history: saves the text of an older version as the newest. */
export const restoreVersion = async (c: Http, site: Site): Promise<Response> => {
  assertActor(c, site)
  const session_id = c.req.param('id')!
  const { version, expected_version, key: idempotencyKey } = valuesOf(await formOf(c))
  await existingSession(site.services.database, session_id)
  const { content } = await versionOf(site.services, session_id, wholeNumber('version', version ?? ''))
  const outcome = await performAsPerson(c, site, updateSessionDoc, idempotencyKey, {
    session_id,
    content,
    expected_version: Number(expected_version),
  })
  return outcome.ok ? seeOther(c, `/sessions/${session_id}/history`) : renderHistory(c, site, outcome.error, idempotencyKey)
}

const versionOf = async ({ database }: Services, sessionId: string, version: number) =>
  (Number.isInteger(version) && version >= 0 && version < 2 ** 31 ? await readVersion(database, sessionId, version) : undefined) ??
  refuse('not_found', `The document has no version ${version}.`)

const renderHistory = async (c: Http, site: Site, error?: ErrorBody, sent?: string): Promise<Response> => {
  const { services } = site
  const { database, clock } = services
  const session = await existingSession(database, c.req.param('id')!)
  const before = numberIn(c, 'before')
  const [rows, [latest], teams] = await Promise.all([
    documentVersions(database, session.id, before, VERSIONS_LISTED + 1),
    documentVersions(database, session.id, undefined, 1),
    roster(database, session.id),
  ])
  const newest = latest?.version ?? 0
  const lookup = teamLookup(teams)
  const comparison = newest === 0 ? undefined : await comparisonOf(c, services, session.id, newest)
  const until = performance.now() + COUNT_WITHIN_MS
  const versions: Version[] = []
  for (const { version, teamId, by, at, bytes } of rows.slice(0, VERSIONS_LISTED)) {
    const changed = await linesChanged(services, session.id, version, until)
    versions.push({
      version,
      by: lookup.team(teamId) ?? { name: by, hue: undefined },
      at,
      age: agoInWords(at, clock.now()),
      bytes,
      changed,
    })
  }
  const view = {
    sessionId: session.id,
    title: session.title,
    locked: !takesWrites(session),
    newest,
    versions,
    before,
    older: rows.length > VERSIONS_LISTED ? versions.at(-1)!.version : undefined,
    comparison,
  }
  const frame = { ...frameOf(c, site), ...(error && { path: `/sessions/${session.id}/history` }) }
  const problem = error && problemOf(error)
  const idempotencyKey = nextIdempotencyKey(sent, error)
  return page(c, <DocHistoryPage {...{ frame, idempotencyKey, problem }} history={view} />, error && STATUS[error.code])
}

const comparisonOf = async (c: Http, services: Services, sessionId: string, newest: number): Promise<Comparison> => {
  const to = numberIn(c, 'to') ?? newest
  const from = numberIn(c, 'from') ?? Math.max(0, to - 1)
  const [before, after] = await Promise.all([versionOf(services, sessionId, from), versionOf(services, sessionId, to)])
  const view = DIFF_VIEWS.find((name) => name === c.req.query('view')) ?? 'unified'
  const diff = diffLines(before.content, after.content)
  const { added, removed, exact } = diff
  rememberLines(sessionId, from, to, diff)
  await pause()
  const { rows, cut } = diffRows(diff, view === 'split', DIFF_ROWS)
  return { from, to, view, added, removed, exact, cut, rows: rows.length, html: await rendered(rows, view) }
}

// The diff of a 512 KiB document is rendered in slices, so that no other request waits for more than one of them.
const rendered = async (rows: DiffRow[], view: DiffView): Promise<string> => {
  let html = ''
  for (let from = 0; from < rows.length; from += SLICE) {
    await pause()
    html += renderToStaticMarkup(<DiffRows rows={rows.slice(from, from + SLICE)} view={view} />)
  }
  return html
}

const linesChanged = async ({ database }: Services, sessionId: string, version: number, until: number): Promise<LineCounts | undefined> => {
  const known = knownLines(sessionId, version - 1, version)
  if (known || performance.now() > until) return known
  const [before, after] = await Promise.all([readVersion(database, sessionId, version - 1), readVersion(database, sessionId, version)])
  await pause()
  return rememberLines(sessionId, version - 1, version, diffLines(before?.content ?? '', after?.content ?? ''))
}
