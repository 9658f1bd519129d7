// The page of runners and their worktrees, and the form that opens a session in one.
import { FormPage, type FormView } from '../../../components/forms/act-form.tsx'
import { NewSessionFields } from '../../../components/agents/new-session-fields.tsx'
import { WorktreesPage, type RunnerView, type WorktreeView } from '../../../components/agents/worktrees-page.tsx'
import { ago } from '../../../components/parts/time.ts'
import { createSession } from '../../control/sessions/create-session.ts'
import { agentName } from '../../core/agent-names.ts'
import { refuse, STATUS, type ErrorBody } from '../../core/errors.ts'
import { counted } from '../../core/text/numbers.ts'
import { personOf } from '../../doors/http/cookies.ts'
import type { Http } from '../../doors/http/http.ts'
import { runnerPlaces, worktreePlaces, type RunnerPlace, type WorktreePlace } from '../../stores/control/places.ts'
import { worktreeById, type WorktreeRow } from '../../stores/control/worktrees.ts'
import { assertActor, nextIdempotencyKey, performAsPerson, problemOf } from '../forms/perform-as-person.ts'
import { formOf, LARGE_FORM, valuesOf } from '../forms/fields.ts'
import { frameOf, page, seeOther, toSignIn, type Site } from '../respond.tsx'
import { agentStateOf } from './agent-view.ts'
import { agentChoices } from './prompt-box.ts'
import { runnerCommand } from './runner-command.ts'

/** GET /worktrees */
export const worktreesPage = async (c: Http, site: Site): Promise<Response> => {
  const { database, clock } = site.services
  const [runners, worktrees] = await Promise.all([runnerPlaces(database), worktreePlaces(database)])
  const own = Map.groupBy(worktrees, ({ runner_id }) => runner_id)
  const shown = runners.map((runner) => runnerView(runner, own.get(runner.id) ?? [], clock.now()))
  return page(c, <WorktreesPage frame={frameOf(c, site)} runners={shown} command={runnerCommand(c, site)} />)
}

const runnerView = (runner: RunnerPlace, worktrees: WorktreePlace[], now: number): RunnerView => ({
  id: runner.id,
  name: runner.name,
  online: runner.online,
  since: runner.online ? `online for ${ago(runner.registered_at, now)}` : `offline, seen ${ago(runner.seen_at, now)} ago`,
  agents: runner.agents.map(({ agentic_tool, version }) => ({ name: agentName(agentic_tool), version: version ?? undefined })),
  bypass: runner.allow_bypass,
  across: runner.across,
  load: `works on ${runner.running} of at most ${counted(runner.parallel, 'task')} at once`,
  worktrees: worktrees.map(worktreeView),
})

const SHORT_HEAD = 10 // characters of a commit's name

const worktreeView = ({ id, path, repo_full_name, branch, head, dirty, changed_files, sessions }: WorktreePlace): WorktreeView => ({
  id,
  path,
  repository: repo_full_name,
  branch: branch ?? undefined,
  head: head?.slice(0, SHORT_HEAD),
  changed: changed_files ?? undefined,
  dirty,
  sessions: sessions.map((session) => ({ id: session.id, title: session.title, state: agentStateOf(session.agent_status, false) })),
})

/** GET /worktrees/:worktree/new */
export const newAgentSession = async (c: Http, site: Site): Promise<Response> => {
  if (!personOf(c, site.services)) return toSignIn(c, site)
  assertActor(c, site)
  return renderForm(c, site, await worktreeOf(c, site), {})
}

/** POST /worktrees/:worktree/new: `title`, `initial_prompt`, `agentic_tool`, `permission_mode`, `branch`, `description`. Leads to the session. */
export const openAgentSession = async (c: Http, site: Site): Promise<Response> => {
  assertActor(c, site)
  const worktree = await worktreeOf(c, site)
  const values = valuesOf(await formOf(c, LARGE_FORM))
  const outcome = await performAsPerson(c, site, createSession, values.key, inputOf(worktree, values))
  if (!outcome.ok) return renderForm(c, site, worktree, values, outcome.error)
  return seeOther(c, `/sessions/${String(outcome.data.session_id)}`)
}

const worktreeOf = async (c: Http, { services }: Site): Promise<WorktreeRow> =>
  (await worktreeById(services.database, c.req.param('worktree')!)) ?? refuse('not_found', 'No runner has this worktree any more.')

const inputOf = ({ worktree_id }: WorktreeRow, values: Record<string, string>) => {
  const { title, initial_prompt, agentic_tool, permission_mode, description } = values
  const branch = values.branch?.trim()
  const said = Object.entries({ initial_prompt, agentic_tool, permission_mode, description }).filter(([, value]) => value?.trim())
  return { title, worktree_id, ...(branch && { branch }), ...Object.fromEntries(said) }
}

const FIELDS = ['title', 'initial_prompt', 'agentic_tool', 'permission_mode', 'branch', 'description']

const renderForm = (c: Http, site: Site, worktree: WorktreeRow, values: Record<string, string>, error?: ErrorBody) => {
  const problem = error && problemOf(error, FIELDS)
  const at = `/worktrees/${worktree.worktree_id}/new`
  const act: FormView = {
    title: 'New session with an agent',
    about: `It works in ${worktree.repo_full_name}, at ${worktree.path} on ${worktree.runner_name}${worktree.online ? '' : ', which is offline now: prompts wait for it'}.`,
    submit: 'Open the session',
    action: at,
    back: '/worktrees',
    idempotencyKey: nextIdempotencyKey(values.key, error),
    problem,
    fields: (
      <NewSessionFields
        {...{ values, problem }}
        agents={agentChoices(worktree.agents)}
        bypass={worktree.allow_bypass}
        branch={worktree.branch ?? 'its branch'}
      />
    ),
  }
  const crumb = { label: 'Worktrees', href: '/worktrees' }
  return page(c, <FormPage frame={{ ...frameOf(c, site), path: at }} crumb={crumb} act={act} />, error && STATUS[error.code])
}
