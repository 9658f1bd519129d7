// The parts of an open page that show its agent: rendered again each second, and sent when they differ.
import { renderToStaticMarkup } from 'react-dom/server'
import { AgentLine } from '../../../components/agents/agent-line.tsx'
import { FamilyMark } from '../../../components/agents/family.tsx'
import { PermissionCard, SecondsLeft } from '../../../components/agents/permission-card.tsx'
import { TaskAct, TaskLine } from '../../../components/agents/task-line.tsx'
import type { AgentView, FamilyMember, PermissionView, TaskItem } from '../../../components/agents/agent-view.ts'
import { sha256 } from '../../core/ids.ts'
import type { Services } from '../../process/services.ts'
import { tasksEndedAfter } from '../../stores/control/watched.ts'
import { partial } from '../live/partial.ts'
import { agentView } from './agent-view.ts'
import { permissionView } from './permission-view.ts'
import type { AgentRows } from './rows.ts'
import { taskItem } from './task-items.ts'

/** What a page shows of its agent. */
export interface AgentShown {
  agent: AgentView
  family: FamilyMember | undefined
  tasks: TaskItem[]
  requests: PermissionView[]
}

export const shownOf = ({ clock, config }: Pick<Services, 'clock' | 'config'>, rows: AgentRows): AgentShown | undefined => {
  if (!rows.agent) return undefined
  const requests = rows.requests.map((request) => permissionView(request, config.PERMISSION_WAIT))
  return {
    agent: agentView(rows.agent, requests.findLast(({ left }) => left !== undefined)?.anchor),
    family: rows.family,
    tasks: rows.tasks.map((task) => taskItem(task, clock.now())),
    requests,
  }
}

/** The fragments that show the agent, by the ids of the elements that they replace. While a request is open its card stays as it is on the
 *  page, with what is typed into it: only the time that is left changes. */
export const agentFragments = (services: Pick<Services, 'clock' | 'config'>, rows: AgentRows): Record<string, string> => {
  const shown = shownOf(services, rows)
  if (!shown) return {}
  const fragments: Record<string, string> = {
    agent: morphed('agent', renderToStaticMarkup(<AgentLine agent={shown.agent} />)),
    'family-mark': morphed('family-mark', renderToStaticMarkup(<FamilyMark mark={familyMark(shown.family)} />)),
  }
  for (const task of shown.tasks) for (const { id, html } of taskParts(task)) fragments[id] = morphed(id, html)
  for (const card of shown.requests) {
    const { id, html } = card.left === undefined ? cardPart(card) : leftPart(card)
    fragments[id] = morphed(id, html)
  }
  return fragments
}

/** The lines of the tasks that ended after this sequence: a page that comes back may have them as they were before. */
export const endedLines = async (services: Pick<Services, 'clock' | 'database'>, sessionId: string, after: number): Promise<string> => {
  const tasks = await tasksEndedAfter(services.database, sessionId, after)
  const parts = tasks.flatMap((task) => taskParts(taskItem(task, services.clock.now())))
  return parts.map(({ id, html }) => morphed(id, html)).join('')
}

/** A hash of the tree, which changes when the tree does. */
export const familyMark = (family: FamilyMember | undefined): string =>
  family === undefined ? '' : sha256(JSON.stringify(family)).slice(0, 12)

const morphed = (id: string, html: string) => partial(`#${id}`, 'outerMorph', html)

export const taskParts = (task: TaskItem) => [
  { id: `t${task.sequence}`, html: renderToStaticMarkup(<TaskLine task={task} />) },
  { id: `a${task.sequence}`, html: renderToStaticMarkup(<TaskAct task={task} />) },
]

export const cardPart = (card: PermissionView) => ({ id: card.anchor, html: renderToStaticMarkup(<PermissionCard card={card} />) })
const leftPart = (card: PermissionView) => ({ id: `${card.anchor}-left`, html: renderToStaticMarkup(<SecondsLeft card={card} />) })
