import type { ReactNode } from 'react'
import { escapeInvisible } from '../../src/core/text/escape-invisible.ts'
import { cn } from '../parts/cn.ts'
import { editedFields } from '../parts/edited-fields.ts'
import { TextLink } from '../parts/text-link.tsx'
import { moment } from '../parts/time.ts'
import { ProblemNote } from '../forms/act-form.tsx'
import { FormField, type Problem } from '../forms/form-field.tsx'
import { FOR_ACTORS } from '../session/warning-strip.tsx'
import { Button, buttonVariants } from '../ui/button.tsx'
import { CardForm } from './proposal-acts.tsx'
import { anchorOf, recordHref, type Outcome, type ProposalView } from './proposal-view.ts'

const SAID: Record<Exclude<ProposalView['status'], 'pending'>, { word: string; colour: string }> = {
  approved: { word: 'Approved', colour: 'text-ok-foreground' },
  rejected: { word: 'Rejected', colour: 'text-destructive-foreground' },
  expired: { word: 'Expired', colour: 'text-warn-foreground' },
  cancelled: { word: 'Cancelled', colour: 'text-muted-foreground' },
}

interface Props {
  proposal: ProposalView
  /** It says in which session. */
  where: boolean
  /** Why what somebody wanted did not happen. */
  problem: Problem | undefined
  /** What was proposed. */
  whole: ReactNode
}

/** What became of a proposal, in one line: by whom, when, and what is left to do. It unfolds to what was proposed. */
export const ProposalLine = ({ proposal, where, problem, whole }: Props) => {
  const { id, status, title, outcome } = proposal
  if (status === 'pending' || !outcome) return null
  const anchor = anchorOf(id)
  const { word, colour } = SAID[status]
  return (
    <>
      {problem && (
        <div className="px-3.5 pt-3">
          <ProblemNote problem={problem} />
        </div>
      )}
      <div className="px-3.5 pt-3 pb-1 text-[12.5px] leading-5 text-muted-foreground">
        <p className="wrap-anywhere">
          <b className={cn('font-medium', colour)}>{word}</b>
          {outcome.by !== undefined && (
            <>
              {' '}
              by <bdi className="text-foreground">{escapeInvisible(outcome.by)}</bdi>
            </>
          )}
          ,{' '}
          <time dateTime={outcome.at} title={moment(outcome.at)} className="tabular-nums">
            {outcome.when}
          </time>
          {where && (
            <>
              {' in '}
              <TextLink quiet dir="auto" href={`/sessions/${proposal.session.id}`}>
                {escapeInvisible(proposal.session.title)}
              </TextLink>
            </>
          )}
          {outcome.edited.length > 0 && <>, with another {editedFields(outcome.edited)}</>}
          {outcome.withdrawn !== undefined && <b className="font-medium text-warn-foreground">, withdrawn since</b>}
        </p>
        <h3
          id={`${anchor}-title`}
          dir="auto"
          className={cn(
            'text-[13.5px] font-medium text-foreground wrap-anywhere',
            outcome.withdrawn !== undefined && 'text-muted-foreground line-through',
          )}
        >
          {escapeInvisible(title)}
        </h3>
        {outcome.feedback && <Words text={outcome.feedback} />}
        {outcome.withdrawn && <Words text={outcome.withdrawn} />}
      </div>
      <div className="line-acts px-2 pb-1.5">
        <details>
          <summary className={LINK}>What was proposed</summary>
          {whole}
        </details>
        {outcome.record && (
          <a href={recordHref(proposal.session.id, outcome.record)} className={LINK}>
            The record
          </a>
        )}
        {outcome.record && outcome.withdrawn === undefined && <Withdraw proposal={proposal} outcome={outcome} />}
        {status === 'expired' && (
          <div className={`archived:hidden ${FOR_ACTORS}`}>
            <CardForm action={`/approvals/${id}/renew`} card={anchor} typed={false}>
              <input type="hidden" name="key" value={`renew.${proposal.idempotencyKey}`} />
              <Button type="submit" variant="outline" className="h-11">
                Bring back
              </Button>
            </CardForm>
          </div>
        )}
      </div>
    </>
  )
}

const LINK = cn(buttonVariants({ variant: 'ghost', size: 'sm' }), 'h-8 list-none px-1.5 max-sm:h-11 underline underline-offset-2')

const Words = ({ text }: { text: string }) => (
  <q dir="auto" className="mt-0.5 block whitespace-pre-wrap wrap-anywhere">
    {escapeInvisible(text)}
  </q>
)

const Withdraw = ({ proposal, outcome }: { proposal: ProposalView; outcome: Outcome }) => {
  const anchor = anchorOf(proposal.id)
  return (
    <details className={`archived:hidden ${FOR_ACTORS}`}>
      <summary className={LINK}>Withdraw</summary>
      <div className="px-1.5 py-1.5">
        <CardForm action={`/records/${outcome.record}/withdraw`} card={anchor}>
          <input type="hidden" name="proposal" value={proposal.id} />
          <input type="hidden" name="key" value={`withdraw.${outcome.withdrawalKey}`} />
          <FormField
            id={`${anchor}-reason`}
            name="reason"
            label="Reason"
            hint="It stays where it is, struck through, with these words."
            rows={2}
            required
            maxLength={1_000}
          />
          <Button type="submit" className="h-11 w-full sm:w-fit">
            Withdraw it
          </Button>
        </CardForm>
      </div>
    </details>
  )
}
