// What rows of a feed show of tasks and requests: read with the rows, and only where there are any.
import type { PermissionView, TaskItem } from '../../../components/agents/agent-view.ts'
import type { Queries } from '../../../db/database.ts'
import type { Services } from '../../process/services.ts'
import { requestsByIds, tasksByIds } from '../../stores/control/watched.ts'
import type { Event } from '../../stores/events.ts'
import { cardPart, taskParts } from './live.tsx'
import { permissionView } from './permission-view.ts'
import { taskItem } from './task-items.ts'

/** An element that replaces the one of its id on a page: its markup. */
export interface Replaced {
  id: string
  html: string
}

interface AgentParts {
  /** The tasks and requests that rows show, by their ids. */
  shown: { tasks: Map<string, TaskItem>; requests: Map<string, PermissionView> }
  /** What `events` changed of earlier rows: a prompt that has its answer, a request that was decided. */
  replaced: Replaced[]
}

interface FeedPlace {
  services: Pick<Services, 'clock' | 'config'>
  queries: Queries
  sessionId: string
}

/** What `events`, and those that they reply to, need. */
export const agentPartsOf = async (
  { services, queries, sessionId }: FeedPlace,
  events: Event[],
  answered: Event[],
): Promise<AgentParts> => {
  const [prompts, answers] = [tasksIn(events), tasksIn(answered)]
  const [asked, decided] = [requestsIn(events, 'permission_asked'), requestsIn(events, 'permission_decided')]
  const [tasks, requests] = await Promise.all([
    tasksByIds(queries, sessionId, [...new Set([...prompts, ...answers])]),
    requestsByIds(queries, sessionId, [...new Set([...asked, ...decided])]),
  ])
  const items = new Map(tasks.map((task) => [task.id, taskItem(task, services.clock.now())]))
  const cards = new Map(requests.map((one) => [one.request_id, permissionView(one, services.config.PERMISSION_WAIT)]))
  const elsewhere = answers.filter((id) => !prompts.includes(id)).flatMap((id) => items.get(id) ?? [])
  const settled = decided.filter((id) => !asked.includes(id)).flatMap((id) => cards.get(id) ?? [])
  return { shown: { tasks: items, requests: cards }, replaced: [...elsewhere.flatMap(taskParts), ...settled.map(cardPart)] }
}

const tasksIn = (events: Event[]): string[] =>
  events.flatMap(({ type, task_id }) => (type === 'user_input' && typeof task_id === 'string' ? [task_id] : []))

const requestsIn = (events: Event[], kind: string): string[] =>
  events.flatMap(({ event, request_id }) => (event === kind && typeof request_id === 'string' ? [request_id] : []))
