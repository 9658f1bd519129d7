// The system events that control writes into feeds.
import type { EventKind } from '../core/events/event-kinds.ts'
import { valueIn } from '../core/lookup.ts'

const ENDS: Record<string, string> = {
  concluded: 'is concluded',
  completed: 'finished its work',
  failed: 'failed',
  interrupted: 'was interrupted',
}

export const eventKinds: readonly EventKind[] = [
  {
    name: 'subsession_finished',
    fields: {
      session_id: 'the child',
      title: 'its title',
      task_id: 'null for its conclusion',
      status: '`completed`, `failed` or `interrupted`; `concluded`',
      message_id: 'its answer or question',
      text: 'its first 2,000 characters',
    },
    summary: 'a task of a child ended',
    icon: 'flag',
    words: ({ title, status }) => `${String(title)} ${valueIn(ENDS, String(status)) ?? String(status)}`,
    link: ({ session_id }) => linkTo(session_id),
  },
  {
    name: 'session_forked',
    fields: {
      by: 'who',
      from: 'the origin',
      fork_sequence: 'up to where its log came before',
      task_id: 'that ended there',
    },
    summary: 'the first event of a fork',
    icon: 'resume',
    words: ({ fork_sequence }) => `begins as a copy, forked at ${String(fork_sequence)}`,
    link: ({ from, fork_sequence }) => {
      const origin = linkTo(from)
      return origin && `${origin}?around=${String(fork_sequence)}`
    },
  },
  {
    name: 'permission_asked',
    fields: {
      request_id: 'to answer by',
      task_id: 'that waits',
      tool_name: 'which tool',
      text: 'what for',
      input: 'its first 4 KiB',
      raise: 'for more permissions: `session_id`, `from`, `to`',
    },
    summary: 'an agent asks a person for permission',
    icon: 'key',
    highlighted: true,
    words: ({ tool_name, text }) => `asks for permission: ${String(text || tool_name)}`,
  },
  {
    name: 'permission_decided',
    fields: {
      by: 'the person, `nobody` or `the end of its task`',
      request_id: 'which request',
      allow: 'true or false',
      message: 'a word to the agent',
    },
    summary: 'a person has answered',
    icon: 'dot',
    words: ({ allow, message }) => `${allow === true ? 'allowed' : 'denied'} it${message === undefined ? '' : `: ${String(message)}`}`,
  },
  {
    name: 'prompt_withdrawn',
    fields: { by: 'who', task_id: 'its task', message_id: 'the prompt' },
    summary: 'nobody waits for its answer any more',
    icon: 'reopen',
    words: () => 'withdrew a prompt: it needs no answer any more',
  },
  {
    name: 'session_archived',
    fields: { by: 'who' },
    summary: 'nothing more until it is restored',
    icon: 'archive',
    words: () => 'archived the session',
  },
  {
    name: 'session_restored',
    fields: { by: 'who' },
    summary: 'an archived session goes on',
    icon: 'reopen',
    words: () => 'brought the session back',
  },
]

const linkTo = (id: unknown): string | undefined => (typeof id === 'string' ? `/sessions/${id}` : undefined)
