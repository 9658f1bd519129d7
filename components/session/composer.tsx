import { escapeInvisible } from '../../src/core/text/escape-invisible.ts'
import { NotSent, ProblemNote, SessionOver } from '../forms/act-form.tsx'
import type { Problem } from '../forms/form-field.tsx'
import { Icon } from '../parts/icon.tsx'
import { TextLink } from '../parts/text-link.tsx'
import type { Frame } from '../site/shell.tsx'
import { Button } from '../ui/button.tsx'
import { Textarea } from '../ui/textarea.tsx'
import { UnsentPage } from './unsent-page.tsx'

export interface AnsweredQuestion {
  id: string
  sequence: number
  /** Who asks. */
  name: string
}

export interface ComposerProps {
  sessionId: string
  person: Frame['person']
  /** Sent twice with the same key, the message is posted once. */
  idempotencyKey: string
  /** The question that the message answers. */
  answers?: AnsweredQuestion | undefined
  text?: string | undefined
  problem?: Problem | undefined
  /** The form takes the place of one that was just sent. */
  again?: boolean
}

/** The form in which a signed-in person writes to all teams. htmx replaces the form alone: the message itself comes with the feed. When the
 *  session is concluded an empty form disappears; one with text stays, so that the text is not lost. The field has no maxLength, which would
 *  cut pasted text silently: the server refuses a text that is too long, and says so. */
export const Composer = (props: ComposerProps) => (props.person?.role === 'person' ? <Form {...props} /> : <Stranger {...props} />)

const Form = ({ sessionId, person, idempotencyKey, answers, text = '', problem, again = false }: ComposerProps) => {
  const action = `/sessions/${sessionId}/messages`
  return (
    <form
      id="composer"
      method="post"
      action={action}
      hx-post={action}
      hx-swap="outerHTML"
      hx-disable="find button"
      className="grid shrink-0 gap-2 px-3 pt-0.5 pb-3 concluded:has-[textarea:placeholder-shown]:hidden"
    >
      {problem && <ProblemNote problem={problem} />}
      <NotSent />
      <SessionOver />
      <input type="hidden" name="key" value={idempotencyKey} />
      {answers && <Answers sessionId={sessionId} {...answers} />}
      <div className="relative min-w-0">
        <Textarea
          id="message"
          name="text"
          rows={1}
          required
          defaultValue={text}
          autoFocus={again || answers !== undefined}
          aria-label={`Message to all teams, as ${escapeInvisible(person!.name)}`}
          aria-invalid={problem !== undefined || undefined}
          placeholder={`Message all teams as ${escapeInvisible(person!.name)}…`}
          title="Enter for a new line, Ctrl or ⌘ with Enter to send"
          className="max-h-[30dvh] min-h-9.5 resize-none py-2 pr-12"
        />
        <Button
          type="submit"
          size="icon"
          aria-label="Send"
          title="Send (Ctrl or ⌘ with Enter)"
          className="absolute right-1 bottom-1 size-7.5 concluded:hidden"
        >
          <Icon name="send" />
        </Button>
      </div>
    </form>
  )
}

const Answers = ({ sessionId, id, sequence, name }: AnsweredQuestion & { sessionId: string }) => (
  <p className="flex items-baseline gap-2 px-1 text-[12.5px] text-muted-foreground">
    <input type="hidden" name="reply_to" value={id} />
    <a href={`#m${sequence}`} className="min-w-0 truncate hover:text-foreground">
      Answers <bdi>{escapeInvisible(name)}</bdi>, #{sequence}
    </a>
    <TextLink quiet href={`/sessions/${sessionId}`} title="Write to all teams instead" className="shrink-0">
      Cancel
    </TextLink>
  </p>
)

const Stranger = ({ sessionId, person }: ComposerProps) =>
  person ? (
    person.role === 'guest' && <p className="shrink-0 px-4 pb-3 text-[12.5px] text-muted-foreground">You are reading a shared link.</p>
  ) : (
    <p className="shrink-0 px-4 pb-3 text-[12.5px] text-muted-foreground concluded:hidden">
      <TextLink quiet href={`/sign-in?next=/sessions/${sessionId}`}>
        Sign in
      </TextLink>{' '}
      to post
    </p>
  )

/** Without script: a message that was refused, to be corrected and sent again. */
export const ComposerPage = ({ frame, composer }: { frame: Frame; composer: ComposerProps }) => (
  <UnsentPage frame={frame} sessionId={composer.sessionId} what="message">
    <Form {...composer} />
  </UnsentPage>
)
