// A summary made without a model: the lines of the log that tell most, each with the id by which get_message has it whole.
import { shortened } from '../../core/events/event-text.ts'
import type { MessageRow } from '../../stores/control/messages.ts'
import { shownText } from './readable.ts'
import { asText } from '../../core/text/as-text.ts'

const EACH = 6 // lines of a section, the newest
const PLANS = /plan|todo/i
const ASKS = /ask_?user|question/i
const LINK = /https?:\/\/[^\s<>()"'`]+[^\s<>()"'`.,;:!?]/g

/** What was asked and done, plans, questions, links and errors, in at most some sixty lines. */
export const extractOf = (rows: readonly MessageRow[]): string => {
  const calls = rows.filter(({ type }) => type === 'tool_call')
  const texts = rows.filter(({ type }) => type === 'chat' || type === 'assistant_response')
  return [
    section('Asked', rows.filter(({ type }) => type === 'user_input').map(lineOf)),
    section(`Done${countsOf(calls)}`, calls.map(lineOf)),
    section('Said', texts.map(lineOf)),
    section('Plans', rows.filter(isPlan).map(lineOf)),
    section('Questions', rows.filter(isQuestion).map(lineOf)),
    section('Links', linksIn(texts)),
    section('Errors', rows.filter(isError).map(lineOf)),
  ]
    .filter((text) => text !== '')
    .join('\n\n')
}

const section = (title: string, lines: string[]): string =>
  lines.length === 0
    ? ''
    : [`${title}:`, ...(lines.length > EACH ? [`- (${lines.length - EACH} earlier ones)`] : []), ...lines.slice(-EACH)].join('\n')

const lineOf = (row: MessageRow): string => `- ${shortened(shownText(row)).text} [${row.id}]`

const countsOf = (calls: readonly MessageRow[]): string => {
  const counts = [...Map.groupBy(calls, ({ tool_name }) => tool_name ?? 'tool')].map(([name, all]) => `${name} ${all.length}`)
  return counts.length === 0 ? '' : ` (${counts.slice(0, 12).join(', ')})`
}

const isPlan = ({ type, tool_name, content }: MessageRow): boolean =>
  type === 'tool_call' ? PLANS.test(tool_name ?? '') : type === 'assistant_response' && /^\W*(the |my )?plan\b/i.test(asText(content.text))

const isQuestion = (row: MessageRow): boolean => {
  const { type, tool_name, content } = row
  if (type === 'tool_call') return ASKS.test(tool_name ?? '')
  if (type === 'system') return content.event === 'permission_asked'
  return (type === 'chat' || type === 'assistant_response') && asText(content.text).trimEnd().endsWith('?')
}

const isError = ({ type, content }: MessageRow): boolean =>
  type === 'tool_response' ||
  (type === 'runtime' && (content.event === 'task_failed' || content.event === 'agent_failed')) ||
  (content.event === 'subsession_finished' && content.status === 'failed')

const linksIn = (texts: readonly MessageRow[]): string[] => {
  const found = new Map<string, string>()
  for (const { id, content } of texts) for (const [link] of asText(content.text).matchAll(LINK)) found.set(link, `- ${link} [${id}]`)
  return [...found.values()]
}
