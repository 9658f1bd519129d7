// What stands beside the feed instead of the document: the session's board, or its records. As a part of the session's page, and by itself for
// pages that are open.
import { LRUCache } from 'lru-cache'
import { renderToStaticMarkup } from 'react-dom/server'
import { SidePanel, type SideView } from '../../../components/session/side-panel.tsx'
import { PaneTabs } from '../../../components/session/side-tabs.tsx'
import { mayRead } from '../../doors/http/guards.ts'
import type { Http } from '../../doors/http/http.ts'
import { prepareMarkdown } from '../../markdown/render.ts'
import type { Session } from '../../stores/sessions.ts'
import { boardView } from '../board/board-view.ts'
import { readSides, recordsMark, sideCounts } from '../board/sides.ts'
import { pack, takes, type Packed } from '../compress.ts'
import { partial } from '../live/partial.ts'
import { sessionRecords } from '../record-list/records.tsx'
import { recordsState } from '../../stores/records/record-pages.ts'
import { sendHtml, type Site } from '../respond.tsx'

export type AsideName = SideView['name']

/** The board or the records, as they are now. ?all=1 shows all that is done, ?type= and ?status= which records. */
export const sideView = async (c: Http, site: Site, session: Session, name: AsideName): Promise<SideView> => {
  if (name === 'records') {
    const { changed } = await recordsState(site.services.database, session.id)
    return { name, mark: recordsMark({ count: 0, changed }), ...(await sessionRecords(c, site, session)) }
  }
  const board = await boardView(site, session.id, c.req.query('all') !== undefined)
  for (const { description, result } of Object.values(board.lists).flat())
    for (const text of [description, result]) if (text) await prepareMarkdown(text)
  return { name, board, mark: board.mark }
}

interface Rendered {
  html: string
  packed: Packed
}

const KEPT = 32
const kept = new WeakMap<Site, LRUCache<string, Promise<Rendered>>>()

/** The panel by itself, for an open page to put into its place. When a board changes, all who look at it ask at the same time, by the mark of
 *  what there is now: it is read and rendered once. */
export const sidePart = async (c: Http, site: Site, session: Session, version: number, name: AsideName): Promise<Response> => {
  const cache = kept.get(site) ?? new LRUCache({ max: KEPT })
  kept.set(site, cache)
  const [mark = '', key] = [c.req.query('mark'), JSON.stringify([session.id, name, mayRead(c, site.services), c.req.query()])]
  const cached = mark === '' ? undefined : cache.get(key)
  const rendering = cached ?? renderPart(c, site, session, version, name)
  if (!cached && mark !== '') cache.set(key, rendering)
  try {
    const { html, packed } = await rendering
    return sendHtml(c, takes(c, packed.encoding) ? packed : html)
  } catch (error) {
    cache.delete(key)
    throw error
  }
}

const renderPart = async (c: Http, site: Site, session: Session, version: number, name: AsideName): Promise<Rendered> => {
  const { database, config } = site.services
  const [side, sides] = await Promise.all([sideView(c, site, session, name), readSides(database, session.id, config.CLAIM_LEASE)])
  const counts = sideCounts(sides)
  const html =
    partial('#panel', 'outerMorph', renderToStaticMarkup(<SidePanel session={session.id} side={side} counts={counts} />)) +
    partial('#tabs', 'outerMorph', renderToStaticMarkup(<PaneTabs session={session.id} side={name} counts={counts} version={version} />))
  return { html, packed: await pack(html, 'gzip') }
}
