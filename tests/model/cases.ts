// Programs that once failed, as fast-check shrank them: they are run before any others. A failure prints its steps as they stand here.
import type { Step } from './command.ts'

export interface Cases {
  /** One step after the other. */
  alone: Step[][]
  /** Programs at the same time. */
  atOnce: Step[][][]
}

export const CASES: Record<'rooms' | 'records' | 'control', Cases> = {
  rooms: {
    alone: [
      // A team that had reopened the session waited for what others did, and was told that it is closed.
      [
        { op: 'conclude_session', door: 'REST', at: 0, by: 1, key: 0, summary: 0 },
        { op: 'reopen_session', door: 'REST', at: 0, by: 0, key: 0 },
        { op: 'wait_for_messages', door: 'REST', at: 0, by: 0, key: 0, since: 2, only: 'others' },
      ],
      // The model took a message that was sent again as a text for another one than the object before.
      [
        { op: 'post_message', door: 'REST', at: 0, by: 0, key: 3, text: 3, bare: false, to: 7, reply: 4, asks: 1, expects: null },
        { op: 'post_message', door: 'REST', at: 0, by: 0, key: 3, text: 3, bare: true, to: 8, reply: 8, asks: 4, expects: null },
      ],
    ],
    atOnce: [
      // A message that came while a team caught up was the newest, and not among what it has not read.
      [
        [{ op: 'catch_up', door: 'REST', at: 0, by: 0, key: 0 }],
        [{ op: 'post_message', door: 'REST', at: 0, by: 1, key: 0, text: 0, bare: false, to: 10, reply: 7, asks: 3, expects: 0 }],
      ],
      // The model took a team's part of a wait beside a post for another team's.
      [
        [{ op: 'post_message', door: 'REST', at: 0, by: 0, key: 0, text: 0, bare: false, to: 0, reply: 0, asks: 0, expects: null }],
        [{ op: 'wait_for_any', door: 'REST', at: 0, by: 0, key: 0, first: { since: null }, second: { since: null }, other: 0, twice: 5 }],
      ],
      // The model took it that of two waits at once, without cursors, one is handed nothing; both are handed the same.
      [
        [{ op: 'wait_for_messages', door: 'MCP', at: 0, by: 0, key: 0, since: null }],
        [{ op: 'wait_for_messages', door: 'MCP', at: 0, by: 0, key: 0, since: null }],
        [{ op: 'join_session', door: 'REST', at: 0, by: 9, key: 0, name: 0, replay: 0, invite: 0 }],
      ],
    ],
  },
  records: {
    alone: [
      // The model took a retry that brought an invitation besides for another use of its key.
      [
        { op: 'join_session', door: 'REST', at: 0, by: 0, key: 1, name: 0, replay: 7, invite: 0 },
        { op: 'join_session', door: 'REST', at: 0, by: 0, key: 1, name: 0, replay: 3, invite: 3 },
      ],
      // The model refused who may not change an item before it looked whether its new dependencies lead back to it.
      [
        { op: 'plan_work', door: 'REST', at: 0, by: 9, key: 0, items: [{ title: 0, priority: 0, depends: 6, paths: 0, owner: 4 }, { title: 0, priority: 0, depends: 0, paths: 0, owner: 9 }], claim: 2 }, // prettier-ignore
        { op: 'update_work', door: 'REST', at: 0, by: 1, key: 0, which: 0, status: 5, note: 0, result: 0, title: 0, priority: 0, depends: 0, paths: 0, owner: 0 }, // prettier-ignore
      ],
      // The model took what a team did itself, such as to cancel its proposal, for addressed to it.
      [
        { op: 'records.propose_action_item', door: 'REST', at: 0, by: 0, key: 0, title: 0, why: 0, replaces: 4, quote: 0, meeting: 0 },
        { op: 'records.cancel_proposal', door: 'REST', at: 0, by: 0, key: 0, which: 0 },
        { op: 'catch_up', door: 'REST', at: 0, by: 0, key: 0 },
      ],
      // Who has left, and brings a key, was told that there is no such proposal.
      [
        { op: 'leave_session', door: 'REST', at: 0, by: 0, key: 0 },
        { op: 'records.resolve_approval', door: 'REST', at: 0, by: 0, key: 1, which: 0, reject: 0, edits: 0, feedback: 0 },
      ],
    ],
    atOnce: [],
  },
  control: {
    alone: [
      // A question of a task that had ended was answered all the same.
      [
        { op: 'control.send_prompt', door: 'REST', at: 0, by: 0, key: 0, on: 0, prompt: 0, mode: 0 },
        { op: 'control.take_tasks', door: 'REST', at: 0, by: 0, key: 0, names: 0, old: 1 },
        { op: 'control.ask_permission', door: 'REST', at: 0, by: 0, key: 0, which: 0, old: 2, request: 0 },
        { op: 'control.finish_task', door: 'MCP', at: 0, by: 1, key: 0, which: 0, old: 1, status: 0, answer: 1 },
        { op: 'control.answer_permission', door: 'MCP', at: 1, by: 6, key: 0, on: 1, request: 0, allow: 0 },
      ],
      // The model took a call that was repeated with a key that had ended for a replay.
      [
        { op: 'control.set_session_name', door: 'REST', at: 0, by: 0, key: 3, title: 0 },
        { op: 'control.manage_session', door: 'REST', at: 0, by: 9, key: 0, on: 0, action: 4 },
        { op: 'control.set_session_name', door: 'REST', at: 0, by: 0, key: 3, title: 0 },
      ],
      // The model took the end of a task, told again by a runner that had registered anew, for the same call.
      [
        { op: 'control.send_prompt', door: 'REST', at: 0, by: 0, key: 0, on: 0, prompt: 0, mode: 0 },
        { op: 'control.take_tasks', door: 'REST', at: 0, by: 0, key: 0, names: 0, old: 1 },
        { op: 'control.finish_task', door: 'REST', at: 0, by: 0, key: 0, which: 0, old: 1, status: 0, answer: 1 },
        { op: 'control.register_runner', door: 'REST', at: 0, by: 0, key: 0, other: 1 },
        { op: 'control.finish_task', door: 'REST', at: 0, by: 0, key: 0, which: 0, old: 1, status: 0, answer: 1 },
      ],
      // The key of a session that was deleted is refused by MCP's door, before the tool.
      [
        { op: 'control.manage_session', door: 'REST', at: 0, by: 0, key: 0, on: 0, action: 4 },
        { op: 'control.set_session_name', door: 'MCP', at: 0, by: 0, key: 0, title: 0 },
      ],
    ],
    atOnce: [
      // A runner whose place was taken at that moment was told so in place of the prompt, which counted as handed out.
      [
        [{ op: 'control.send_prompt', door: 'REST', at: 0, by: 0, key: 0, on: 0, prompt: 0, mode: 0 }],
        [{ op: 'control.take_tasks', door: 'REST', at: 0, by: 0, key: 0, names: 0, old: 1 }],
        [
          { op: 'control.list_archived', door: 'REST', at: 0, by: 0, key: 0 },
          { op: 'control.register_runner', door: 'REST', at: 0, by: 0, key: 0, other: 3 },
        ],
      ],
    ],
  },
}
