// What is said of a notice: the same fields whichever the way, and no text of anybody's message.
import { escapeInvisible } from '../core/text/escape-invisible.ts'
import { KINDS, type NoticeKind, type NoticeKindName } from './kinds.ts'

export interface Message {
  kind: NoticeKindName | 'test'
  session_id: string | null
  title: string
  /** Where a person sees it. */
  url: string
  /** All of it in one sentence: Slack shows this field alone. */
  text: string
}

interface DueNotice {
  kind: NoticeKindName
  session_id: string
  title: string
}

const pathOf = (kind: NoticeKindName, sessionId: string): string => {
  const { inInbox }: NoticeKind = KINDS[kind]
  return inInbox ? `/approvals?meeting=${sessionId}` : `/sessions/${sessionId}`
}

/** What is posted to NOTIFY_URL. `base`: under which people reach this server. */
export const messageFor = ({ kind, session_id, title }: DueNotice, base: string): Message => {
  const url = `${base}${pathOf(kind, session_id)}`
  return { kind, session_id, title, url, text: `${harmless(title)}: ${KINDS[kind].sentence} ${url}` }
}

export const testMessage = (base: string): Message => {
  const url = `${base}/settings`
  return { kind: 'test', session_id: null, title: 'Parley', url, text: `${TEST_SENTENCE} ${url}` }
}

const TEST_SENTENCE = 'A test: this is how Parley tells you that you are needed.'

/** What a browser is sent. It shows the title if its person wants that, and opens a page of the server it subscribed at. */
export type PushMessage = Omit<Message, 'title'> & { title?: string }

export const pushMessageFor = ({ kind, session_id, title }: DueNotice, titles: boolean): PushMessage => ({
  kind,
  session_id,
  ...(titles && { title: escapeInvisible(title) }),
  url: pathOf(kind, session_id),
  text: KINDS[kind].sentence,
})

export const pushTestMessage: PushMessage = { kind: 'test', session_id: null, url: '/settings', text: TEST_SENTENCE }

// An agent chose the title, and chats read mentions and links into a text: <!channel>, <https://…|click>, @all.
const LOOKALIKES: Record<string, string> = { '<': '‹', '>': '›', '@': '＠' }
const harmless = (title: string) => escapeInvisible(title.replace(/\s+/g, ' ')).replace(/[<>@]/g, (character) => LOOKALIKES[character]!)
