// After a context compaction: all that a team needs to continue, in one answer of a size that it chooses.
import { z } from 'zod'
import { cutText, jsonLength } from '../core/budget.ts'
import { teamOf, type Context } from '../operations/context.ts'
import type { Services } from '../process/services.ts'
import type { Member } from '../stores/members.ts'
import { unreadOf } from '../stores/unread.ts'
import { docPart, lastMessages, others, unanswered, type Part } from './catch-up-parts.ts'
import { event, maxChars, op, outlineRow, sessionId, time, version } from './schemas.ts'

const DEFAULT_CHARS = 8_000
const LEAST_CHARS = 2_000 // below it there is no room for rows

const line = event.partial({ type: true })

const answer = z.looseObject({
  session: z.object({ session_id: z.uuid(), title: z.string(), description: z.string(), status: z.string(), created_at: time }),
  you: z.object({
    handle: z.uuid(),
    team_name: z.string(),
    is_convener: z.boolean(),
    cursor: z.int(),
    unread: z.int(),
    addressed: z.int(),
    last_cursor: z.int(),
  }),
  participants: z.array(z.looseObject({ team_id: z.uuid(), status: z.string() })),
  unanswered: z.array(line),
  doc: z.object({
    version,
    since_version: version,
    changed_by: z.array(z.string()),
    removed: z.array(z.string()).optional(),
    outline: z.array(outlineRow),
  }),
  last_messages: z.array(line),
  omitted: z.record(z.string(), z.int()).optional(),
})

/** Beyond specification 1: 2,000 to 1,000,000 characters, 8,000 unless said. Sections share them in their order; what did not fit is
 *  counted in `omitted`, and ids lead to it. */
export const catchUp = op({
  name: 'catch_up',
  summary:
    'All you need to continue after a context compaction or a restart: who you are, who is here, what you were asked and have not answered (reply_to), the doc outline with what changed since your cursor, the last messages. Consumes nothing; continue with wait_for_messages from you.cursor.',
  route: ['GET', '/sessions/:session_id/catch-up'],
  access: 'team',
  effect: 'read',
  input: z.strictObject({
    session_id: sessionId,
    max_chars: maxChars
      .unwrap()
      .min(LEAST_CHARS)
      .default(DEFAULT_CHARS)
      .describe('Longest answer you want, in characters; `omitted` counts the rest.'),
  }),
  output: answer,
  refuses: [],
  async run(context, { max_chars }) {
    const member = teamOf(context)
    const cursor = readUpTo(context.services, member)
    const [head, teams, asked, doc, said] = await Promise.all([
      headOf(context, member, cursor, max_chars),
      others(context, member),
      unanswered(context, member),
      docPart(context, member, cursor),
      lastMessages(context, member),
    ])
    return assembled(head, [teams, asked, doc, said], max_chars)
  },
})

const readUpTo = ({ presence }: Services, { teamId, seenCursor }: Member) => Math.max(seenCursor, presence.of(teamId)?.seenCursor ?? 0)

const headOf = async ({ services, queries }: Context, { session: { id }, teamId, teamName }: Member, cursor: number, limit: number) => {
  const [overview, counts] = await Promise.all([services.overviewOf(id), unreadOf(queries, id, teamId, cursor, cursor)])
  const { title, description, status, createdAt, convenerTeamId, lastConversationSequence } = overview!.session
  const share = Math.floor(limit / 10)
  return {
    session: { session_id: id, title: cutText(title, share), description: cutText(description, share), status, created_at: createdAt },
    you: {
      handle: teamId,
      team_name: teamName,
      is_convener: teamId === convenerTeamId,
      cursor,
      ...counts,
      last_cursor: lastConversationSequence,
    },
  }
}

/** Each section takes up to its share of what is left by those before it. What did not fit is counted. */
const assembled = (head: object, parts: readonly Part[], limit: number): z.output<typeof answer> => {
  const sections: Record<string, unknown> = {}
  const omitted: Record<string, number> = {}
  let left = limit - jsonLength(head) - jsonLength({ omitted: Object.fromEntries(parts.map(({ name }) => [name, 9_999_999])) })
  for (const { name, share, of, within } of parts) {
    const key = jsonLength(name) + 2
    const { value, rows } = within(Math.floor(left * share) - key)
    sections[name] = value
    left -= jsonLength(value) + key
    if (rows < of) omitted[name] = of - rows
  }
  return { ...head, ...sections, ...(Object.keys(omitted).length > 0 && { omitted }) } as z.output<typeof answer>
}
