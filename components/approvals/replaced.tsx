import { escapeInvisible } from '../../src/core/text/escape-invisible.ts'
import { TextLink } from '../parts/text-link.tsx'
import { anchorOf, type ReplacedProposal } from './proposal-view.ts'
import { WordDiff } from './word-diff.tsx'

const WAS = {
  pending: 'one that waits',
  approved: 'one that was approved',
  rejected: 'one that was rejected',
  expired: 'one that expired',
  cancelled: 'an earlier one',
}

/** The proposal that this one replaces: what it was told then, and what is different now. */
export const Replaced = ({ replaced: { id, status, feedback, changes } }: { replaced: ReplacedProposal }) => (
  <section aria-label="What it replaces" className="min-w-0 rounded-md border bg-muted/40 px-3 py-2 text-[12.5px]">
    <p className="text-muted-foreground">
      Replaces{' '}
      <TextLink quiet href={`/approvals/${id}#${anchorOf(id)}`}>
        {WAS[status]}
      </TextLink>
      {feedback === '' ? '.' : ', with the words:'}
    </p>
    {feedback !== '' && (
      <q dir="auto" className="mt-0.5 block whitespace-pre-wrap wrap-anywhere">
        {escapeInvisible(feedback)}
      </q>
    )}
    {changes.length === 0 ? (
      <p className="mt-1 text-muted-foreground">Nothing in it is different.</p>
    ) : (
      <dl className="mt-1.5 grid gap-1.5">
        {changes.map(({ field, before, after }) => (
          <div key={field}>
            <dt className="text-[12px] text-muted-foreground">{field}</dt>
            <dd className="min-w-0">
              <WordDiff before={before} after={after} />
            </dd>
          </div>
        ))}
      </dl>
    )}
  </section>
)
