import { escapeInvisible } from '../../src/core/text/escape-invisible.ts'
import { Shell, type Frame } from '../site/shell.tsx'
import { InboxMark } from './inbox-mark.tsx'
import type { Attempt } from './proposal-acts.tsx'
import { ProposalCard } from './proposal-card.tsx'
import type { ProposalView } from './proposal-view.ts'
import { SignInToDecide } from './sign-in-to-decide.tsx'

const WHAT = { action: 'A proposed action item', decision: 'A proposed decision' }

/** One proposal, where its link leads. */
export const ApprovalPage = ({ frame, proposal, attempt }: { frame: Frame; proposal: ProposalView; attempt: Attempt | undefined }) => (
  <Shell
    frame={frame}
    title={`${proposal.title} · Parley`}
    crumbs={[{ label: 'Approvals', href: '/approvals' }, { label: WHAT[proposal.type] }]}
    kind="approvals"
  >
    <main id="main" className="mx-auto w-full max-w-2xl px-4 py-6 sm:px-6">
      <h1 className="text-xl font-semibold tracking-[-0.02em]">{WHAT[proposal.type]}</h1>
      <h2 className="mt-0.5 mb-3 text-[13px] font-normal text-muted-foreground wrap-anywhere">
        for <bdi>{escapeInvisible(proposal.session.title)}</bdi>
      </h2>
      <SignInToDecide frame={frame} />
      <ProposalCard proposal={proposal} attempt={attempt} />
      <InboxMark only={proposal.id} />
    </main>
  </Shell>
)
