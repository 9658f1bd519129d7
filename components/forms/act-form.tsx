import type { ReactNode } from 'react'
import type { Problem } from './form-field.tsx'
import { Shell, type Frame } from '../site/shell.tsx'
import { Alert } from '../ui/alert.tsx'
import { Button, LinkButton } from '../ui/button.tsx'
import { Card } from '../ui/card.tsx'

/** Something that a person does, as a form: what it is, what it asks for, and how the last attempt went. */
export interface ActView {
  title: string
  about: string
  submit: string
  /** Where the form is sent, and where Cancel leads. */
  action: string
  back: string
  /** Sent twice with the same key, it is done once. */
  idempotencyKey: string
  problem: Problem | undefined
  fields: ReactNode
}

/** On a page of its own. */
export const ActPage = ({ frame, act, crumb }: { frame: Frame; act: ActView; crumb?: { label: string; href: string } | undefined }) => (
  <Shell
    frame={frame}
    title={`${act.title} · Parley`}
    crumbs={[{ label: 'Sessions', href: '/' }, ...(crumb ? [crumb] : []), { label: act.title }]}
  >
    <main id="main" className="mx-auto w-full max-w-2xl px-4 py-7 sm:px-6">
      <Card aria-label={act.title} className="p-4 sm:p-5">
        <ActForm
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

/** In the dialog of a page that goes on behind it (components/session/session-actions.tsx, public/dialog.js). */
export const ActDialog = ({ act }: { act: ActView }) => (
  <ActForm
    act={act}
    heading="h2"
    sending={{ 'hx-post': act.action, 'hx-target': '#dialog', 'hx-swap': 'innerHTML', 'hx-disable': 'find [data-act]' }}
    note={
      <>
        <Kept />
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

const Kept = () => (
  <p data-kept hidden className="text-[12.5px] text-muted-foreground">
    This is what you typed before.{' '}
    <button type="reset" className="cursor-pointer underline underline-offset-2 hover:text-foreground">
      Start over
    </button>
  </p>
)

/** Shown by public/acts.js. */
export const NotSent = () => (
  <p role="alert" hidden className="text-[12.5px] text-destructive-foreground">
    Not sent: the server cannot be reached. Your text is kept; send it again.
  </p>
)

interface Parts {
  act: ActView
  heading: 'h1' | 'h2'
  /** How htmx sends it. */
  sending?: Record<string, string>
  note?: ReactNode
  cancel: ReactNode
}

const ActForm = ({ act, heading: Heading, sending, note, cancel }: Parts) => (
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
        <a href="/sign-in" target="_blank" className="font-medium underline underline-offset-2">
          Sign in in another tab
        </a>
        , then submit again; your text is kept.
      </>
    )}
  </Alert>
)
