// What an open page is sent: its own components again, each with the place it goes to, in server-sent events.
import type { ReactElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { Written } from '../../../components/document/document-pane.tsx'
import { Count } from '../../../components/session/feed-pane.tsx'
import { Lanes, type Lane } from '../../../components/session/lanes.tsx'
import { LoopStrip } from '../../../components/session/loop-strip.tsx'
import { Listening, Roster } from '../../../components/session/roster.tsx'
import { SessionHead } from '../../../components/session/session-page.tsx'
import type { SessionState } from '../../../components/session/session-view.ts'
import type { NewRows } from '../session/feed.tsx'

export type Bytes = Uint8Array<ArrayBuffer>
type Swap = 'beforeend' | 'afterbegin' | 'outerHTML' | 'outerMorph' | 'delete'

/** Markup and where in the page it goes. Texts of agents are escaped in it, so that none can begin such an element of its own. */
export const partial = (target: string, swap: Swap, html: string) =>
  `<hx-partial hx-target="${target}" hx-swap="${swap}">${html}</hx-partial>`

/** Rows at the feed's end. Edits of the document that went on, and those that others have taken in, are in it already: wherever they
 *  stand by now, each is found by its id, and changed in place, so that it keeps the focus. */
export const feedPartials = ({ continued, gone, rows }: NewRows) =>
  [
    ...continued.map(({ from, html }) => partial(`#d${from}`, 'outerMorph', html)),
    ...gone.map((from) => partial(`#d${from}`, 'delete', '')),
    rows && partial('#rows', 'beforeend', rows),
  ].join('')

const encoder = new TextEncoder()

/** An event of the page's stream. `id` is `<cursor>.<document's version>`: up to where the page's rows then go.
 *  Browsers end a line at \r too, which texts may hold: it must not end ours. */
export const frame = (id: string, html: string): Bytes =>
  encoder.encode(`id: ${id}\ndata: ${html.split(/\r\n|\r|\n/).join('\ndata: ')}\n\n`)

const RETRY_MS = 1_000
export const HELLO = encoder.encode(`retry: ${RETRY_MS}\n: following\n\n`)
/** A named event, not a comment: the page sees it, and knows that the line still holds. */
export const PING = encoder.encode('event: ping\ndata:\n\n')
/** Nothing more will come unless the session is reopened. */
export const CLOSED = encoder.encode('event: closed\ndata:\n\n')

/** The parts of a page that show the session's state; each goes where it is in the page. */
export type Piece = 'head' | 'loop' | 'roster' | 'listening' | 'written' | 'lanes' | 'count'
export interface Shown {
  state: SessionState
  lanes: Lane[]
  messages: number
}

const PIECES: Record<Piece, (shown: Shown) => ReactElement> = {
  head: ({ state }) => <SessionHead session={state} />,
  loop: ({ state }) => <LoopStrip {...state} />,
  roster: ({ state }) => <Roster {...state} />,
  listening: ({ state }) => <Listening {...state} />,
  written: ({ state }) => <Written written={state.written} history={`/sessions/${state.id}/history`} />,
  lanes: ({ lanes, state }) => <Lanes lanes={lanes} teams={state.teams} />,
  count: ({ messages }) => <Count messages={messages} />,
}
const PLACES: Record<Piece, string> = {
  head: '#session-head',
  loop: '#loop',
  roster: '#roster',
  listening: '#listening',
  written: '#written',
  lanes: '#lanes',
  count: '#count',
}

export type Pieces = Record<Piece, string>

export const piecesOf = (shown: Shown): Pieces =>
  Object.fromEntries(
    Object.entries(PIECES).map(([name, render]) => [
      name,
      partial(PLACES[name as Piece], 'outerMorph', renderToStaticMarkup(render(shown))),
    ]),
  ) as Pieces

/** The head in which the title has just changed: put in again, so that its animation runs. */
export const renamedHead = (state: SessionState) =>
  partial(PLACES.head, 'outerHTML', renderToStaticMarkup(<SessionHead session={state} renamed />))
