// What an open page is sent: components of that page rendered again, each with the place it goes to.
import type { ReactElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { Written } from '../../../components/document/document-pane.tsx'
import { Count } from '../../../components/session/feed-pane.tsx'
import { Lanes, type Lane } from '../../../components/session/lanes.tsx'
import { Listening, Roster } from '../../../components/session/roster.tsx'
import { SessionHead } from '../../../components/session/session-page.tsx'
import type { SessionState } from '../../../components/session/session-view.ts'
import { SideMark } from '../../../components/session/side-panel.tsx'
import { LoopStrip, WakesStrip } from '../../../components/session/warning-strip.tsx'
import { ApprovalsLink } from '../../../components/site/approvals-link.tsx'
import type { NewRows } from '../session/feed.tsx'
import { partial } from './partial.ts'

/** Appends new rows at the feed's end. Rows of edits that changed or vanished are on the page already: each is found by its id, wherever it
 *  stands by now, and morphed or deleted there, so that the focus stays. So are marks of questions; a missing one is passed over. */
export const feedPartials = ({ continued, gone, marks, replaced, rows }: NewRows) =>
  [
    ...continued.map(({ from, html }) => partial(`#d${from}`, 'outerMorph', html)),
    ...gone.map((from) => partial(`#d${from}`, 'delete', '')),
    rows && partial('#rows', 'beforeend', rows),
    ...marks.map(({ of, html }) => partial(`#q${of}`, 'outerMorph', html)),
    ...replaced.map(({ id, html }) => partial(`#${id}`, 'outerMorph', html)),
  ].join('')

/** What the fragments of a page are rendered from. */
export interface LiveView {
  state: SessionState
  lanes: Lane[]
  messages: number
}

export type FragmentName = 'head' | 'loop' | 'wakes' | 'roster' | 'listening' | 'written' | 'lanes' | 'count' | 'sides'
/** The parts of a page that show the session's state, as markup; those of its agent, if it has one, have the ids of their elements as names. */
export type Fragments = Record<FragmentName, string> & Record<string, string>

const COMPONENTS: Record<FragmentName, (view: LiveView) => ReactElement> = {
  head: ({ state }) => <SessionHead session={state} />,
  loop: ({ state }) => <LoopStrip {...state} />,
  wakes: ({ state }) => <WakesStrip {...state} />,
  roster: ({ state }) => <Roster {...state} />,
  listening: ({ state }) => <Listening {...state} />,
  written: ({ state }) => <Written written={state.written} history={`/sessions/${state.id}/history`} />,
  lanes: ({ lanes, state }) => <Lanes lanes={lanes} teams={state.teams} />,
  count: ({ messages }) => <Count messages={messages} />,
  sides: ({ state }) => <SideMark counts={state.counts} {...state.marks} />,
}
const TARGETS: Record<FragmentName, string> = {
  head: '#session-head',
  loop: '#loop',
  wakes: '#wakes',
  roster: '#roster',
  listening: '#listening',
  written: '#written',
  lanes: '#lanes',
  count: '#count',
  sides: '#side-mark',
}

export const fragmentsOf = (view: LiveView): Fragments =>
  Object.fromEntries(
    Object.entries(COMPONENTS).map(([name, render]) => [
      name,
      partial(TARGETS[name as FragmentName], 'outerMorph', renderToStaticMarkup(render(view))),
    ]),
  ) as Fragments

/** The header's link to the inbox. */
export const approvalsLink = (waiting: number): string =>
  partial('#approvals-link', 'outerMorph', renderToStaticMarkup(<ApprovalsLink waiting={waiting} />))

/** The head after a change of the title: replaced instead of morphed, so that its animation runs. */
export const renamedHead = (state: SessionState) =>
  partial(TARGETS.head, 'outerHTML', renderToStaticMarkup(<SessionHead session={state} renamed />))
