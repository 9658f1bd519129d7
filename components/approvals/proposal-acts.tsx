import type { ReactNode } from 'react'
import { cn } from '../parts/cn.ts'
import { NotSent, ProblemNote } from '../forms/act-form.tsx'
import { FormField, type Problem } from '../forms/form-field.tsx'
import { FOR_ACTORS } from '../session/warning-strip.tsx'
import { Button, buttonVariants } from '../ui/button.tsx'
import { EditFields } from './edit-fields.tsx'
import { anchorOf, type ProposalView } from './proposal-view.ts'

/** A form of a card that was not applied, with what was typed and why. */
export interface Attempt {
  form: 'approve' | 'edit' | 'reject' | 'renew' | 'withdraw'
  values: Record<string, string>
  problem: Problem
}

const ACT = 'h-11 w-full'

/** What a person can do about a proposal: the same three at the same place on each card, in reach of a thumb. Edit and Reject unfold below
 *  them, one at a time, and keep what is typed. Sent to all viewers alike: they show to those who may act. */
export const ProposalActs = ({ proposal, attempt }: { proposal: ProposalView; attempt: Attempt | undefined }) => {
  const tried = (form: Attempt['form']) => (attempt?.form === form ? attempt : undefined)
  const approve = tried('approve')
  return (
    <div className={`acts border-t p-3 archived:hidden sm:px-4 ${FOR_ACTORS}`}>
      {approve && <Problems problem={approve.problem} />}
      <ActForm proposal={proposal} form="approve" className="contents">
        <Button type="submit" data-shortcut="a" className={ACT}>
          Approve
        </Button>
      </ActForm>
      <Unfolds proposal={proposal} label="Edit" shortcut="e" open={tried('edit') !== undefined}>
        <ActForm proposal={proposal} form="edit">
          {tried('edit') && <Problems problem={tried('edit')!.problem} />}
          <EditFields proposal={proposal} values={tried('edit')?.values} problem={tried('edit')?.problem} />
          <Button type="submit" className={`${ACT} sm:w-fit`}>
            Approve with changes
          </Button>
        </ActForm>
      </Unfolds>
      <Unfolds proposal={proposal} label="Reject" shortcut="x" open={tried('reject') !== undefined}>
        <ActForm proposal={proposal} form="reject">
          {tried('reject') && <Problems problem={tried('reject')!.problem} />}
          <FormField
            id={`${anchorOf(proposal.id)}-feedback`}
            name="feedback"
            label="Feedback"
            hint="Optional. The agent gets it, and can propose something better."
            rows={3}
            maxLength={2_000}
            defaultValue={tried('reject')?.values.feedback}
            problem={tried('reject')?.problem}
            className="max-h-60"
          />
          <Button type="submit" className={`${ACT} sm:w-fit`}>
            Send rejection
          </Button>
        </ActForm>
      </Unfolds>
    </div>
  )
}

// What is about a field stands at the field.
const Problems = ({ problem }: { problem: Problem }) => (problem.field === undefined ? <ProblemNote problem={problem} /> : null)

interface FormProps {
  proposal: ProposalView
  form: Attempt['form']
  className?: string | undefined
  children: ReactNode
}

/** A form of a card, which is answered with the card. */
const ActForm = ({ proposal: { id, idempotencyKey }, form, className, children }: FormProps) => (
  <CardForm action={`/approvals/${id}`} card={anchorOf(id)} typed={form !== 'approve'} className={className}>
    <input type="hidden" name="act" value={form} />
    <input type="hidden" name="key" value={`${form}.${idempotencyKey}`} />
    {children}
  </CardForm>
)

interface CardFormProps {
  action: string
  /** The id of the card that the answer replaces. */
  card: string
  /** The form has a field for text. */
  typed?: boolean
  className?: string | undefined
  children: ReactNode
}

export const CardForm = ({ action, card, typed = true, className = 'grid min-w-0 content-start gap-3', children }: CardFormProps) => (
  <form
    method="post"
    action={action}
    hx-post={action}
    hx-target={`#${card}`}
    hx-swap="outerMorph"
    hx-disable="find [type=submit]"
    className={className}
  >
    {children}
    <NotSent typed={typed} />
  </form>
)

interface UnfoldsProps {
  proposal: ProposalView
  label: string
  /** The letter that unfolds it. */
  shortcut: string
  open: boolean
  children: ReactNode
}

// Its id keeps a morph from opening another fold in its place, such as the one that withdraws, when somebody else has decided.
const Unfolds = ({ proposal, label, shortcut, open, children }: UnfoldsProps) => (
  <details id={`${anchorOf(proposal.id)}-${label.toLowerCase()}`} name={`${anchorOf(proposal.id)}-acts`} open={open}>
    <summary data-shortcut={shortcut} className={cn(buttonVariants({ variant: 'outline' }), `${ACT} list-none`)}>
      {label}
    </summary>
    <div className="pt-3">{children}</div>
  </details>
)
