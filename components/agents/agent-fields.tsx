// The choices of a prompt and of a new session: how it goes on, which agent, what that agent may.
import { isBypass, type PermissionMode } from '../../src/core/permission-modes.ts'
import { BeganWith, type FieldsProps } from '../forms/act-fields.tsx'
import { FormField, type Problem } from '../forms/form-field.tsx'

interface SelectProps {
  /** Comes before the ids of the fields, where a page has several. */
  within?: string
  chosen?: string | undefined
  /** The choice that says nothing, where there is one. */
  unsaid?: string
  problem?: Problem | undefined
}

const unsaidFirst = (unsaid: string | undefined) => (unsaid === undefined ? [] : [{ value: '', text: unsaid }])

/** `agents`: those that the runner has, by name, each with its version. */
export const AgentSelect = ({ within = '', chosen, agents, unsaid, problem }: SelectProps & { agents: AgentChoice[] }) => (
  <FormField
    id={`${within}agentic_tool`}
    name="agentic_tool"
    label="Agent"
    options={[
      ...unsaidFirst(unsaid),
      ...agents.map(({ tool, name, version }) => ({ value: tool, text: version ? `${name} ${version}` : name })),
    ]}
    defaultValue={chosen ?? (unsaid === undefined ? agents[0]?.tool : '')}
    problem={problem}
  />
)

export interface AgentChoice {
  tool: string
  name: string
  version: string | undefined
}

/** From the one that allows least to those that allow all. Where two are alike, one is of another client. */
const PERMISSIONS: Record<PermissionMode, string> = {
  plan: 'reads and plans, changes nothing',
  default: 'asks a person before each edit and command',
  ask: 'as default',
  acceptEdits: 'edits files, and asks before commands',
  auto: 'works in its sandbox, and asks beyond it',
  'on-failure': 'asks only for what its sandbox refused',
  bypassPermissions: 'may do anything without asking',
  'allow-all': 'as bypassPermissions',
}

/** `bypass`: the runner lets agents do anything; undefined where it is not known. */
export const PermissionSelect = ({ within = '', chosen = '', bypass, unsaid, problem }: SelectProps & { bypass?: boolean }) => (
  <FormField
    id={`${within}permission_mode`}
    name="permission_mode"
    label="Permissions"
    options={[
      ...unsaidFirst(unsaid),
      ...Object.entries(PERMISSIONS).map(([mode, may]) => {
        const disabled = bypass === false && isBypass(mode)
        return { value: mode, text: `${mode}: ${disabled ? 'its runner was started without --allow-bypass' : may}`, disabled }
      }),
    ]}
    defaultValue={chosen}
    problem={problem}
  />
)

/** What an agent may: without asking, and spend. */
export const LimitsFields = ({ values, problem }: FieldsProps) => (
  <>
    <BeganWith values={values} />
    <PermissionSelect chosen={values.permission_mode} problem={problem} />
    <FormField
      name="max_usd"
      label="Limit, in US dollars"
      hint="For this session and all below it. Past it prompts wait. Agents that tell no costs, such as Codex, count nothing. Empty leaves it as it is."
      type="number"
      min={0}
      step="any"
      defaultValue={values.max_usd}
      problem={problem}
      className="w-32"
    />
  </>
)
