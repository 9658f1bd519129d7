// The system events that control writes into feeds.
import type { EventKind } from '../core/event-kinds.ts'

const ENDS: Record<string, string> = { completed: 'finished its work', failed: 'failed', interrupted: 'was interrupted' }

export const eventKinds: readonly EventKind[] = [
  {
    name: 'subsession_finished',
    fields: {
      session_id: "the child's id",
      title: "the child's title",
      task_id: 'the task that ended; null for its conclusion',
      status: '`completed`, `failed` or `interrupted`',
      message_id: 'the answer there',
      text: 'its first 2,000 characters',
    },
    summary: 'a task of a child session ended',
    icon: 'flag',
    words: ({ title, status }) => `${String(title)} ${ENDS[String(status)] ?? String(status)}`,
    link: ({ session_id }) => (typeof session_id === 'string' ? `/sessions/${session_id}` : undefined),
  },
  {
    name: 'session_archived',
    fields: { by: 'the name of the person or key' },
    summary: 'the session takes nothing more until it is restored',
    icon: 'flag',
    words: () => 'archived the session',
  },
  {
    name: 'session_restored',
    fields: { by: 'the name of the person or key' },
    summary: 'an archived session goes on',
    icon: 'reopen',
    words: () => 'brought the session back',
  },
]
