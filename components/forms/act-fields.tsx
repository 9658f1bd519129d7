// The fields of the forms of pages/forms/session-forms.tsx.
import { renderMarkdown } from '../../src/markdown/render.ts'
import { FieldProblem, FormField, type Problem } from './form-field.tsx'
import { TeamName, type Team } from '../parts/team.tsx'
import { Button } from '../ui/button.tsx'

export interface FieldsProps {
  values: Record<string, string>
  problem: Problem | undefined
  /** The path of the session's page; empty for a session that does not exist yet. */
  at: string
  /** The teams to choose from, one of which may be the convener. */
  teams?: (Team & { id: string; convener: boolean })[] | undefined
}

const Title = ({ values, problem }: FieldsProps) => (
  <FormField name="title" label="Title" defaultValue={values.title} problem={problem} required maxLength={200} autoFocus />
)

const Description = ({ values, problem }: FieldsProps) => (
  <FormField
    name="description"
    label="Description"
    hint="What the teams should achieve, with all the context they need."
    rows={4}
    defaultValue={values.description}
    problem={problem}
    maxLength={10_000}
    className="max-h-[40dvh] min-h-24"
  />
)

const Reason = ({ values, problem, autoFocus = false }: FieldsProps & { autoFocus?: boolean }) => (
  <FormField
    name="reason"
    label="Reason"
    hint="Every team is told."
    rows={2}
    defaultValue={values.reason}
    problem={problem}
    required
    maxLength={2_000}
    autoFocus={autoFocus}
    className="min-h-14"
  />
)

export const SessionFields = (props: FieldsProps) => (
  <>
    <Title {...props} />
    <Description {...props} />
    <FormField
      name="expected_teams"
      label="Expected teams"
      type="number"
      min={1}
      max={100}
      defaultValue={props.values.expected_teams}
      problem={props.problem}
      required
      className="w-24"
    />
  </>
)

/** What a form that changes something began with: what nobody changed in it is not sent, so that it undoes nothing that others changed
 *  meanwhile. */
export const BeganWith = ({ values: { was } }: Pick<FieldsProps, 'values'>) =>
  was === undefined ? null : <input type="hidden" name="was" value={was} />

export const MetadataFields = (props: FieldsProps) => (
  <>
    <BeganWith {...props} />
    <Title {...props} />
    <Description {...props} />
    <Reason {...props} />
  </>
)

export const ReopenFields = (props: FieldsProps) => <Reason {...props} autoFocus />

export const ConclusionFields = ({ values, problem, at }: FieldsProps) => (
  <>
    <FormField
      name="summary_section"
      label="Conclusion"
      hint="Markdown: what was achieved and decided, what is open, where to continue. It becomes the document's Conclusion section."
      rows={8}
      defaultValue={values.summary_section}
      problem={problem}
      required
      autoFocus
      maxLength={64 * 1024}
      className="max-h-[40dvh] min-h-44 font-mono text-[12.5px]"
      hx-post={`${at}/conclude/preview`}
      hx-trigger="input changed delay:300ms"
      hx-target="#preview"
    />
    <section aria-label="Preview" className="overflow-hidden rounded-md border">
      <div className="flex h-9 items-center justify-between border-b bg-muted/60 pr-1 pl-3 text-[12px] font-medium">
        Preview
        <Button
          type="submit"
          variant="ghost"
          size="sm"
          formAction={`${at}/conclude/preview`}
          formNoValidate
          hx-post={`${at}/conclude/preview`}
          hx-target="#preview"
        >
          Refresh preview
        </Button>
      </div>
      <div id="preview" className="thin-scroll max-h-60 overflow-y-auto">
        <ConclusionPreview text={values.summary_section ?? ''} />
      </div>
    </section>
  </>
)

export const ConclusionPreview = ({ text }: { text: string }) => (
  <article
    className="prose prose-sm md-doc px-3 py-2.5"
    dangerouslySetInnerHTML={{ __html: renderMarkdown(text.trim() ? text : '*Nothing yet.*') }}
  />
)

export const ConvenerFields = ({ values, problem, teams = [] }: FieldsProps) => (
  <fieldset className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-1.5">
    <legend className="mb-1.5 text-[13px] font-medium">Team</legend>
    {teams.map(({ id, name, hue, convener }) => (
      <label
        key={id}
        className="flex min-h-9 items-center gap-2.5 rounded-md border bg-card px-3 py-1.5 text-[13px] has-checked:border-ring has-checked:bg-accent"
      >
        <input type="radio" name="to" value={id} required defaultChecked={values.to === id} />
        <span className="min-w-0 wrap-anywhere">
          <TeamName team={{ name, hue }} />
        </span>
        {convener && <span className="ml-auto shrink-0 text-[12px] text-muted-foreground">convener now</span>}
      </label>
    ))}
    {teams.length === 0 && <p className="text-[13px] text-muted-foreground">No team has joined yet.</p>}
    <FieldProblem name="to" problem={problem} />
  </fieldset>
)
