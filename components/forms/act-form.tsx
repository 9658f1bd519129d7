import type { ReactNode } from 'react'
import { TextLink } from '../parts/text-link.tsx'
import type { Problem } from './form-field.tsx'
import { Shell, type Frame } from '../site/shell.tsx'
import { Alert } from '../ui/alert.tsx'
import { Button, LinkButton } from '../ui/button.tsx'
import { Card } from '../ui/card.tsx'

/** A form by which a person acts on a session. */
export interface FormView {
  title: string
  about: string
  submit: string
  /** The path that the form is sent to, and the path that Cancel leads to. */
  action: string
  back: string
  /** Submitted twice with the same key, the form is applied once. */
  idempotencyKey: string
  problem: Problem | undefined
  fields: ReactNode
}

/** The form on a page of its own. */
export const FormPage = ({ frame, act, crumb }: { frame: Frame; act: FormView; crumb?: { label: string; href: string } | undefined }) => (
  <Shell
    frame={frame}
    title={`${act.title} · Parley`}
    crumbs={[{ label: 'Sessions', href: '/' }, ...(crumb ? [crumb] : []), { label: act.title }]}
  >
    <main id="main" className="mx-auto w-full max-w-2xl px-4 py-7 sm:px-6">
      <Card aria-label={act.title} className="p-4 sm:p-5">
        <SessionForm
          act={act}
          heading="h1"
          cancel={
            <LinkButton variant="outline" href={act.back}>
              Cancel
            </LinkButton>
          }
        />
      </Card>
    </main>
  </Shell>
)

/** The form in the dialog of a session's page (session-actions.tsx, public/dialog.js). */
export const FormDialog = ({ act }: { act: FormView }) => (
  <SessionForm
    act={act}
    heading="h2"
    sending={{ 'hx-post': act.action, 'hx-target': '#dialog', 'hx-swap': 'innerHTML', 'hx-disable': 'find [data-act]' }}
    note={
      <>
        <RestoredNote />
        <NotSent />
      </>
    }
    cancel={
      <Button type="submit" variant="outline" formMethod="dialog" formNoValidate>
        Cancel
      </Button>
    }
  />
)

/** The dialog that forms are loaded into. */
export const FormsDialog = () => (
  <dialog
    id="dialog"
    aria-labelledby="act-title"
    className="m-auto max-h-[92dvh] w-[calc(100%-2rem)] max-w-xl rounded-xl border bg-card p-5 text-foreground shadow-xl backdrop:bg-black/40"
  />
)

const RestoredNote = () => (
  <p data-kept hidden className="text-[12.5px] text-muted-foreground">
    This is what you typed before.{' '}
    <button type="reset" className="cursor-pointer underline underline-offset-2 hover:text-foreground">
      Start over
    </button>
  </p>
)

/** The place where public/forms.js says why the form was not sent. `typed`: the form has a field for text. */
export const NotSent = ({ typed = true }: { typed?: boolean }) => (
  <p
    role="alert"
    data-unsent={typed ? 'Your text is kept; send it again.' : 'Try again.'}
    hidden
    className="text-[12.5px] text-destructive-foreground"
  />
)

/** In a form for messages or prompts. Shows once the session is concluded or archived. */
export const SessionOver = () => (
  <p role="status" className="hidden px-1 text-[12.5px] text-muted-foreground concluded:block">
    The session is over. Your text was not sent.
  </p>
)

interface Props {
  act: FormView
  heading: 'h1' | 'h2'
  /** Attributes by which htmx sends the form. */
  sending?: Record<string, string>
  note?: ReactNode
  cancel: ReactNode
}

const SessionForm = ({ act, heading: Heading, sending, note, cancel }: Props) => (
  <form method="post" action={act.action} {...sending} className="grid gap-4">
    <div>
      <Heading id="act-title" className="text-lg font-semibold tracking-[-0.015em]">
        {act.title}
      </Heading>
      <p className="mt-1 text-[13px] text-muted-foreground">{act.about}</p>
    </div>
    {act.problem && act.problem.field === undefined && <ProblemNote problem={act.problem} />}
    {note}
    <input type="hidden" name="key" value={act.idempotencyKey} />
    {act.fields}
    <div className="flex flex-row-reverse justify-start gap-2">
      <Button type="submit" data-act="">
        {act.submit}
      </Button>
      {cancel}
    </div>
  </form>
)

export const ProblemNote = ({ problem }: { problem: Problem }) => (
  <Alert variant="destructive">
    {problem.text}
    {problem.signIn && (
      <>
        {' '}
        <TextLink href="/sign-in" target="_blank" className="font-medium text-destructive-foreground">
          Sign in in another tab
        </TextLink>
        , then submit again; your text is kept.
      </>
    )}
  </Alert>
)
