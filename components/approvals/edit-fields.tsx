import { withLf } from '../../src/core/text/line-breaks.ts'
import { FormField, type Problem } from '../forms/form-field.tsx'
import type { Option } from '../ui/select.tsx'
import { anchorOf, fieldMoment, type ProposalView } from './proposal-view.ts'

interface Props {
  proposal: ProposalView
  /** What was typed before, and why that was refused. */
  values: Record<string, string> | undefined
  problem: Problem | undefined
}

/** The fields by which a person changes what is proposed, and approves that. */
export const EditFields = ({ proposal, values, problem }: Props) => {
  const anchor = anchorOf(proposal.id)
  const shown = { ...proposedValues(proposal), ...values }
  const field = (name: keyof ReturnType<typeof proposedValues>) => ({
    id: `${anchor}-new-${name}`,
    name,
    defaultValue: shown[name],
    problem,
  })
  const names = `${anchor}-names`
  return (
    <>
      <FormField {...field('title')} label="Title" required maxLength={200} />
      <FormField
        {...field('description')}
        label="Description"
        rows={3}
        maxLength={proposal.type === 'action' ? 1_000 : 2_000}
        required={proposal.type === 'decision'}
        className="max-h-60"
      />
      {proposal.type === 'decision' ? (
        <>
          <FormField {...field('rationale')} label="Rationale" rows={2} maxLength={1_000} className="max-h-60" />
          <FormField {...field('decided_by')} label="Decided by" options={deciders(proposal)} />
        </>
      ) : (
        <div className="grid gap-3 sm:grid-cols-3">
          <FormField {...field('owner')} label="Owner" maxLength={120} list={names} autoComplete="off" />
          <FormField {...field('due')} label="Due (UTC)" type="datetime-local" />
          <FormField {...field('priority')} label="Priority" options={PRIORITIES} />
          <datalist id={names}>
            {proposal.people.map(({ name }) => (
              <option key={name} value={name} />
            ))}
          </datalist>
        </div>
      )}
      <FormField
        id={`${anchor}-word`}
        name="feedback"
        label="A word to the agent"
        maxLength={2_000}
        defaultValue={values?.feedback}
        problem={problem}
        placeholder="Optional"
      />
    </>
  )
}

const PRIORITIES = ['high', 'medium', 'low'].map((value) => ({ value }))

const deciders = ({ decidedBy, people }: ProposalView): Option[] => {
  const others = people.filter(({ id }) => id !== decidedBy?.id)
  const named = [...(decidedBy ? [decidedBy] : []), ...others].map(({ id, name }) => ({ value: id, text: name }))
  return [{ value: '', text: 'nobody in particular' }, ...named]
}

/** What the fields hold before anybody has changed them. */
export const proposedValues = ({ title, description, rationale, decidedBy, owner, due, priority }: ProposalView) => ({
  title,
  description: withLf(description),
  rationale: withLf(rationale),
  decided_by: decidedBy?.id ?? '',
  owner: owner ?? '',
  due: fieldMoment(due),
  priority: priority ?? 'medium',
})
