// The fields of the forms of pages/board/work-forms.tsx.
import { escapeInvisible } from '../../src/core/text/escape-invisible.ts'
import { BeganWith } from '../forms/act-fields.tsx'
import { FieldProblem, FormField, type Problem } from '../forms/form-field.tsx'

export interface WorkFieldsProps {
  values: Record<string, string>
  problem: Problem | undefined
  /** Who may own the item. */
  owners: string[]
  /** The items that this one may depend on. */
  others: { id: string; title: string }[]
  /** The ids of the items that this one depends on. */
  waitsFor: string[]
}

/** What is to be done. */
export const WorkFields = ({ values, problem, owners, others, waitsFor }: WorkFieldsProps) => (
  <>
    <BeganWith values={values} />
    <FormField name="title" label="Title" defaultValue={values.title} problem={problem} required minLength={5} maxLength={200} autoFocus />
    <FormField
      name="description"
      label="Description"
      rows={3}
      defaultValue={values.description}
      problem={problem}
      maxLength={4_000}
      className="max-h-[30dvh]"
    />
    <div className="grid grid-cols-2 gap-3">
      <FormField name="priority" label="Priority" options={PRIORITIES} defaultValue={values.priority || 'medium'} problem={problem} />
      <FormField
        name="owner"
        label="For"
        options={[{ value: '', text: 'anybody' }, ...owners.map((value) => ({ value }))]}
        defaultValue={values.owner ?? ''}
        problem={problem}
      />
    </div>
    <FormField
      name="paths"
      label="Paths"
      hint="What it edits, one a line: src/parser, docs/*.md. Two teams cannot hold what overlaps."
      rows={2}
      defaultValue={values.paths}
      problem={problem}
      maxLength={4_200}
      className="max-h-[30dvh] font-mono text-[12.5px]"
    />
    {others.length > 0 && <WaitsFor others={others} chosen={waitsFor} problem={problem} />}
  </>
)

const PRIORITIES = ['high', 'medium', 'low'].map((value) => ({ value }))

interface WaitsForProps {
  others: WorkFieldsProps['others']
  chosen: string[]
  problem: Problem | undefined
}

const WaitsFor = ({ others, chosen, problem }: WaitsForProps) => (
  <fieldset className="grid min-w-0 gap-1">
    <legend className="mb-1 text-[13px] font-medium">Waits for</legend>
    <div className="thin-scroll max-h-[30dvh] overflow-y-auto rounded-md border bg-card py-1">
      {others.map(({ id, title }) => (
        <label key={id} className="flex min-h-9 items-center gap-2.5 px-3 text-[13px] has-checked:bg-accent">
          <input type="checkbox" id={`depends_on.${id}`} name="depends_on" value={id} defaultChecked={chosen.includes(id)} />
          <span dir="auto" className="min-w-0 wrap-anywhere">
            {escapeInvisible(title)}
          </span>
        </label>
      ))}
    </div>
    <FieldProblem name="depends_on" problem={problem} />
  </fieldset>
)

interface WordsProps {
  name: 'note' | 'result' | 'reason'
  label: string
  hint: string
  maxLength: number
  /** What the form is about. */
  title: string
  required?: boolean
}

/** One text beside the title of what it is about. */
export const wordsAbout =
  ({ name, label, hint, maxLength, title, required = false }: WordsProps) =>
  ({ values, problem }: Pick<WorkFieldsProps, 'values' | 'problem'>) => (
    <>
      <p dir="auto" className="rounded-md border bg-muted/40 px-3 py-2 text-[13px] font-medium wrap-anywhere">
        {escapeInvisible(title)}
      </p>
      <FormField
        name={name}
        label={label}
        hint={hint}
        rows={3}
        defaultValue={values[name]}
        problem={problem}
        maxLength={maxLength}
        required={required}
        autoFocus
        className="max-h-[30dvh]"
      />
    </>
  )
