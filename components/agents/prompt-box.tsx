import type { ReactNode } from 'react'
import { NotSent, ProblemNote, SessionOver } from '../forms/act-form.tsx'
import { FormField, type Problem } from '../forms/form-field.tsx'
import { cn } from '../parts/cn.ts'
import { Icon } from '../parts/icon.tsx'
import type { Frame } from '../site/shell.tsx'
import { Button } from '../ui/button.tsx'
import { Textarea } from '../ui/textarea.tsx'
import { AgentSelect, PermissionSelect, type AgentChoice } from './agent-fields.tsx'
import { UnsentPage } from '../session/unsent-page.tsx'

export const MODES = {
  continue: { label: 'Continue', about: 'The agent goes on in its conversation, here.' },
  fork: { label: 'Fork', about: 'A new session with the conversation up to here; this one stays as it is.' },
  subsession: { label: 'Subsession', about: 'A new session with a fresh agent, whose result comes back here.' },
}
export type Mode = keyof typeof MODES

export interface PromptBoxProps {
  sessionId: string
  agent: string
  /** The agents that can be chosen for a new session. */
  agents: AgentChoice[]
  bypass: boolean | undefined
  /** Why a mode cannot be chosen. */
  unable: Partial<Record<Mode, string>>
  /** Sent twice with the same key, the prompt is given once. */
  idempotencyKey: string
  values?: Record<string, string>
  problem?: Problem | undefined
  /** The form takes the place of one that was just sent. */
  again?: boolean
  /** All choices are there from the beginning. */
  whole?: boolean
}

/** The composer of a session with an agent: a person chooses whether to prompt the agent or to write to all teams. Radio buttons and :has(),
 *  so that choosing needs no script. `toAgent`: what is chosen at first. Once the session is over, a form shows as long as it has text. */
export const PromptOrMessage = ({ toAgent, prompt, message }: { toAgent: boolean; prompt: ReactNode; message: ReactNode }) => (
  <div className="group/box shrink-0">
    <fieldset className="flex gap-0.5 px-3 pt-0.5 pb-1.5 concluded:hidden">
      <legend className="sr-only">Write to</legend>
      <Choice id="to-agent" label="Prompt the agent" chosen={toAgent} />
      <Choice id="to-teams" label="Message all teams" chosen={!toAgent} />
    </fieldset>
    <div className="group-has-[#to-teams:checked]/box:live:hidden">{prompt}</div>
    <div className="group-has-[#to-agent:checked]/box:live:hidden">{message}</div>
  </div>
)

const Choice = ({ id, label, chosen }: { id: string; label: string; chosen: boolean }) => (
  <label className="flex h-7 cursor-pointer items-center rounded-md px-2.5 text-[12px] text-muted-foreground hover:text-foreground has-checked:bg-secondary has-checked:font-medium has-checked:text-secondary-foreground has-focus-visible:outline-2 has-focus-visible:outline-ring max-sm:h-9 pointer-coarse:min-h-9">
    <input id={id} type="radio" name="write-to" defaultChecked={chosen} className="sr-only" />
    {label}
  </label>
)

/** The form in which a signed-in person prompts the agent. htmx replaces the form alone: the prompt itself comes with the feed. */
export const PromptBox = (props: PromptBoxProps) => {
  const { sessionId, agent, idempotencyKey, values = {}, problem, again = false, whole = false } = props
  const action = `/sessions/${sessionId}/prompt`
  return (
    <form
      id="prompt-box"
      method="post"
      action={action}
      hx-post={action}
      hx-swap="outerHTML"
      hx-disable="find button"
      className="group/prompt grid gap-2 px-3 pb-3 concluded:has-[textarea:placeholder-shown]:hidden"
    >
      {problem && <ProblemNote problem={problem} />}
      <NotSent />
      <SessionOver />
      <input type="hidden" name="key" value={idempotencyKey} />
      <div className="relative min-w-0">
        <Textarea
          id="prompt"
          name="prompt"
          rows={2}
          required
          defaultValue={values.prompt}
          autoFocus={again}
          aria-label={`Prompt for ${agent}`}
          aria-invalid={problem !== undefined || undefined}
          placeholder={`What should ${agent} do?`}
          title="Enter for a new line, Ctrl or ⌘ with Enter to send"
          className={cn('max-h-[30dvh] resize-none py-2 pr-12', whole ? 'min-h-28' : 'min-h-14')}
        />
        <Button
          type="submit"
          size="icon"
          aria-label="Send the prompt"
          title="Send the prompt (Ctrl or ⌘ with Enter)"
          className="absolute right-1 bottom-1 size-7.5 concluded:hidden"
        >
          <Icon name="send" />
        </Button>
      </div>
      <How {...props} />
    </form>
  )
}

// Folded: most prompts go on where the agent is. What else there is to choose is loaded when it is unfolded (public/agents.js): it weighs as
// much as ten messages. Without script there is a page with all of it.
const How = (props: PromptBoxProps) => {
  const { sessionId, values = {}, whole = values.mode !== undefined } = props
  const address = `/sessions/${sessionId}/prompt`
  return (
    <details className="text-[12.5px] concluded:hidden" open={whole} {...(!whole && { 'data-trace': `${address}?part`, 'data-once': '' })}>
      <summary id={SUMMARY} className="w-fit cursor-pointer text-muted-foreground hover:text-foreground">
        {whole ? <HowItGoesOn /> : GOES_ON}
      </summary>
      {whole ? (
        <PromptChoices {...props} />
      ) : (
        <p id={CHOICES} className="mt-2">
          <a href={address} className="underline">
            All choices, on a page of their own
          </a>
        </p>
      )}
    </details>
  )
}

/** What the choices take the place of, and what is said of them while they are folded. */
export const CHOICES = 'prompt-choices'
export const SUMMARY = 'prompt-how'
const GOES_ON = 'It goes on in its conversation'

/** What was chosen. */
export const HowItGoesOn = () => (
  <>
    <span className="hidden group-has-[[value=continue]:checked]/prompt:inline">{GOES_ON}</span>
    <span className="hidden group-has-[[value=fork]:checked]/prompt:inline">In a fork</span>
    <span className="hidden group-has-[[value=subsession]:checked]/prompt:inline">In a subsession</span>
  </>
)

const WITHIN = 'prompt-' // the page's dialog keeps its last form, which may have fields of the same names

/** How a prompt goes on, and for a new session where and with whom. */
export const PromptChoices = ({ agents, bypass, unable, values = {} }: Pick<PromptBoxProps, 'agents' | 'bypass' | 'unable' | 'values'>) => (
  <div id={CHOICES} className="thin-scroll mt-2 grid max-h-[30dvh] gap-3 overflow-y-auto">
    <fieldset className="grid gap-1.5 sm:grid-cols-3">
      <legend className="sr-only">How it goes on</legend>
      {Object.entries(MODES).map(([mode, { label, about }]) => (
        <ModeChoice key={mode} mode={mode as Mode} label={label} about={about} unable={unable[mode as Mode]} chosen={values.mode} />
      ))}
    </fieldset>
    <div className="grid gap-2 group-has-[[value=continue]:checked]/prompt:hidden sm:grid-cols-2">
      <FormField id={`${WITHIN}title`} name="title" label="Title" maxLength={200} defaultValue={values.title} placeholder="As here" />
      <FormField
        id={`${WITHIN}branch`}
        name="branch"
        label="Branch, for a worktree of its own"
        maxLength={400}
        defaultValue={values.branch}
        placeholder="The same worktree"
      />
      <AgentSelect within={WITHIN} agents={agents} chosen={values.agentic_tool} unsaid="As here" />
      <PermissionSelect within={WITHIN} chosen={values.permission_mode ?? ''} {...(bypass !== undefined && { bypass })} unsaid="As here" />
    </div>
  </div>
)

interface ModeProps {
  mode: Mode
  label: string
  about: string
  unable: string | undefined
  chosen: string | undefined
}

const ModeChoice = ({ mode, label, about, unable, chosen = 'continue' }: ModeProps) => (
  <label className="flex cursor-pointer items-start gap-2 rounded-md border bg-card px-2.5 py-1.5 has-checked:border-ring has-checked:bg-accent has-disabled:cursor-default">
    <input type="radio" name="mode" value={mode} defaultChecked={chosen === mode} disabled={unable !== undefined} className="mt-0.5" />
    <span>
      <span className="font-medium">{label}</span>
      <span className="block text-[12px] text-muted-foreground">{unable ?? about}</span>
    </span>
  </label>
)

/** Without script: a prompt with all its choices; or one that was refused, to be corrected and sent again. */
export const PromptPage = ({ frame, box }: { frame: Frame; box: PromptBoxProps }) => (
  <UnsentPage frame={frame} sessionId={box.sessionId} what="prompt" heading={box.problem ? undefined : `Prompt ${box.agent}`}>
    <PromptBox {...box} whole />
  </UnsentPage>
)
