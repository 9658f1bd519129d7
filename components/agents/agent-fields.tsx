// The choices of a prompt and of a new session: how it goes on, which agent, what that agent may.
import { isBypass, type PermissionMode } from '../../src/core/permission-modes.ts'
import { BeganWith, type FieldsProps } from '../forms/act-fields.tsx'
import { FormField } from '../forms/form-field.tsx'
import { Label } from '../ui/label.tsx'
import { Select } from '../ui/select.tsx'

interface SelectProps {
  /** Comes before the ids of the fields, where a page has several. */
  within?: string
  chosen?: string | undefined
}

/** `agents`: those that the runner has, by name, each with its version. */
export const AgentSelect = ({ within = '', chosen, agents, unsaid }: SelectProps & { agents: AgentChoice[]; unsaid?: string }) => (
  <div className="grid content-start gap-1">
    <Label htmlFor={`${within}agentic_tool`}>Agent</Label>
    <Select id={`${within}agentic_tool`} name="agentic_tool" defaultValue={chosen ?? (unsaid === undefined ? agents[0]?.tool : '')}>
      {unsaid !== undefined && <option value="">{unsaid}</option>}
      {agents.map(({ tool, name, version }) => (
        <option key={tool} value={tool}>
          {name}
          {version && ` ${version}`}
        </option>
      ))}
    </Select>
  </div>
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
export const PermissionSelect = ({ within = '', chosen = '', bypass, unsaid }: SelectProps & { bypass?: boolean; unsaid?: string }) => (
  <div className="grid content-start gap-1">
    <Label htmlFor={`${within}permission_mode`}>Permissions</Label>
    <Select id={`${within}permission_mode`} name="permission_mode" defaultValue={chosen}>
      {unsaid !== undefined && <option value="">{unsaid}</option>}
      {Object.entries(PERMISSIONS).map(([mode, may]) => {
        const refused = bypass === false && isBypass(mode)
        return (
          <option key={mode} value={mode} disabled={refused}>
            {mode}: {refused ? 'its runner was started without --allow-bypass' : may}
          </option>
        )
      })}
    </Select>
  </div>
)

/** What an agent may: without asking, and spend. */
export const LimitsFields = ({ values, problem }: FieldsProps) => (
  <>
    <BeganWith values={values} />
    <PermissionSelect chosen={values.permission_mode} />
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
