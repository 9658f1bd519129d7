import { FormField, type Problem } from '../forms/form-field.tsx'
import { AgentSelect, PermissionSelect, type AgentChoice } from './agent-fields.tsx'

interface Props {
  values: Record<string, string>
  problem: Problem | undefined
  agents: AgentChoice[]
  bypass: boolean
  branch: string
}

/** The fields of a new session whose agent works in a worktree. */
export const NewSessionFields = ({ values, problem, agents, bypass, branch }: Props) => (
  <>
    <FormField name="title" label="Title" defaultValue={values.title} problem={problem} required maxLength={200} autoFocus />
    <FormField
      name="initial_prompt"
      label="Prompt"
      hint="What the agent is to do first; it begins at once. Leave it empty to begin later."
      rows={5}
      defaultValue={values.initial_prompt}
      problem={problem}
      className="max-h-[40dvh] min-h-28"
    />
    <div className="grid gap-4 sm:grid-cols-2">
      <AgentSelect agents={agents} chosen={values.agentic_tool} problem={problem} />
      <PermissionSelect chosen={values.permission_mode} bypass={bypass} unsaid="As usual for the agent" problem={problem} />
    </div>
    <FormField
      name="branch"
      label="Branch"
      hint={`Another branch than ${branch} gets a worktree of its own beside this one.`}
      defaultValue={values.branch ?? ''}
      placeholder={branch}
      problem={problem}
      maxLength={400}
    />
    <FormField
      name="description"
      label="Description"
      hint="For everybody who comes later: what the session is for."
      rows={2}
      defaultValue={values.description}
      problem={problem}
      maxLength={10_000}
      className="min-h-14"
    />
  </>
)
