// The parts of an open inbox that change with the time alone, or are no cards: rendered again with each look, and sent when they differ.
import { renderToStaticMarkup } from 'react-dom/server'
import type { PermissionView } from '../../../components/agents/agent-view.ts'
import { SecondsLeft } from '../../../components/agents/permission-card.tsx'
import { DecidedToday, Needy } from '../../../components/approvals/inbox-page.tsx'
import { AskedList } from '../../../components/approvals/asked-list.tsx'
import type { AskedView, NeedyView } from '../../../components/approvals/inbox-view.ts'
import { AgeMark, TimeLeftMark } from '../../../components/approvals/proposal-card.tsx'
import { anchorOf } from '../../../components/approvals/proposal-view.ts'
import { timeLeft } from '../../../components/approvals/time-left.ts'
import { agoInWords } from '../../../components/parts/time.ts'
import type { WaitingProposal } from '../../stores/records/waiting.ts'
import { approvalsLink } from '../live/frames.tsx'
import { partial } from '../live/partial.ts'

interface Looked {
  proposals: WaitingProposal[]
  requests: PermissionView[]
  today: { approved: number; rejected: number }
  now: number
}

/** By the ids of the elements that they replace. */
export const inboxFragments = ({ proposals, requests, today, now }: Looked): Record<string, string> => ({
  today: partial('#today', 'outerMorph', renderToStaticMarkup(<DecidedToday today={today} />)),
  ...Object.fromEntries(
    proposals.map(({ id, created_at, expires_at }) => {
      const place = anchorOf(id)
      const marks = [
        partial(`#${place}-age`, 'outerMorph', renderToStaticMarkup(<AgeMark id={id} age={agoInWords(created_at, now)} />)),
        partial(`#${place}-left`, 'outerMorph', renderToStaticMarkup(<TimeLeftMark id={id} left={timeLeft(expires_at, now)} />)),
      ]
      return [place, marks.join('')]
    }),
  ),
  ...Object.fromEntries(
    requests.map((card) => {
      const place = `${card.anchor}-left`
      return [place, partial(`#${place}`, 'outerMorph', renderToStaticMarkup(<SecondsLeft card={card} />))]
    }),
  ),
})

interface Read {
  asked: AskedView[]
  needy: NeedyView[]
  /** How many wait in all. */
  count: number
  now: number
}

/** The parts that differ by who reads, and by the session that is shown. */
export const readersFragments = ({ asked, needy, count, now }: Read): Record<string, string> => ({
  'approvals-link': approvalsLink(count),
  asked: partial('#asked', 'outerMorph', renderToStaticMarkup(<AskedList asked={asked} now={now} />)),
  needy: partial('#needy', 'outerMorph', renderToStaticMarkup(<Needy sessions={needy} />)),
})
