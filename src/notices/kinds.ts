// What people are told of a session, as data: a wing that has something else to tell adds a record here and calls
// notifyPeople (notify-people.ts).

export interface NoticeKind {
  /** The sentence that people read. It can stand alone: a browser shows it without the session's title unless that was asked for. */
  sentence: string
  /** Somebody is waited for: push services wake a sleeping phone for it. */
  urgent: boolean
  /** Seconds in which the same session gets no second notice of this kind. */
  quietS: number
  /** It is answered in the inbox, not on the session's page. */
  inInbox?: true
}

const MINUTE_S = 60

export const KINDS = {
  loop_suspected: {
    sentence: 'The teams repeat themselves: a person is needed.',
    urgent: true,
    quietS: 10 * MINUTE_S,
  },
  wakes_used_up: {
    sentence: 'Messages wake its agents no more for now: they sleep until a person says something.',
    urgent: true,
    quietS: 60 * MINUTE_S,
  },
  convener_gone: {
    sentence: 'The convener is gone while others are still there: a person is needed to name another, or to conclude.',
    urgent: true,
    quietS: 30 * MINUTE_S,
  },
  session_concluded: { sentence: 'The session is concluded.', urgent: false, quietS: 10 * MINUTE_S },
  permission: { sentence: 'An agent asks for permission: a person is needed.', urgent: true, quietS: MINUTE_S, inInbox: true },
  proposal: { sentence: 'A proposal waits for a person to decide.', urgent: true, quietS: 5 * MINUTE_S, inInbox: true },
  question: { sentence: 'A team asks a person a question.', urgent: true, quietS: MINUTE_S },
} satisfies Record<string, NoticeKind>

export type NoticeKindName = keyof typeof KINDS
