// catch_up: all that a team needs to continue after a context compaction, in one answer of a size that it chooses.
import { z } from 'zod'
import { cutText, jsonLength } from '../core/budget.ts'
import { baseOf, teamOf, type Context } from '../operations/context.ts'
import type { Member } from '../stores/members.ts'
import { peekedBy } from '../stores/peeks.ts'
import {
  docSection,
  lastMessagesSection,
  participantsSection,
  proposalsSection,
  questionSections,
  tasksSection,
  type CatchUpSection,
} from './catch-up-sections.ts'
import { forkedFrom } from './forked-from.ts'
import { characterLimit, counts, event, op, outlineRow, sessionId, time, version } from './schemas.ts'
import { seenCursorOf } from './status.ts'
import { workSection } from './work/work-section.ts'
import { team } from './team-caller.ts'

const DEFAULT_CHARS = 8_000
const LEAST_OF_CATCH_UP = 2_000 // fewer leave no room for rows
const TITLE_SHARE = 1 / 10
const DESCRIPTION_SHARE = 1 / 3 // it says the goal

const line = event.partial({ type: true })

const answer = z.looseObject({
  session: z.object({
    session_id: z.uuid(),
    title: z.string(),
    description: z.string(),
    truncated: z.object({ description: z.int() }).optional().describe('Of a description that was cut: how many characters it has.'),
    status: z.string(),
    archived_at: time.nullable(),
    created_at: time,
    forked_from: z.object({ session_id: z.uuid(), sequence: z.int(), url: z.string() }).optional(),
  }),
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
  asked: z.array(line),
  tasks: z.array(z.looseObject({ task_id: z.uuid(), status: z.string() })).optional(),
  work: z.object({
    mine: z.array(z.looseObject({ item_id: z.uuid(), title: z.string(), status: z.string() })),
    ready: z.array(z.looseObject({ item_id: z.uuid(), title: z.string(), priority: z.string() })),
    counts,
  }),
  proposals: z.array(z.looseObject({ id: z.uuid(), type: z.string(), title: z.string(), status: z.string() })),
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

/** Answers in at most `max_chars` characters (2,000 to 1,000,000, by default 8,000). The sections share them in their order; `omitted`
 *  counts the rows that did not fit. A row that was cut can be read whole by its id. */
export const catchUp = op({
  name: 'catch_up',
  summary:
    'All you need to continue after a context compaction or a restart: who you are, who is here, which questions wait for your answer (reply_to), which of yours for others, what the agent has to do, your work and what is free to take, what became of your proposals, the doc outline with what changed since your cursor, the last messages. Consumes nothing; continue with wait_for_messages from you.cursor. A description that was cut (session.truncated) is read whole with get_session.',
  route: ['GET', '/sessions/:session_id/catch-up'],
  callers: [team],
  effect: 'read',
  searchHint: 'go on after a context compaction',
  input: z.strictObject({
    session_id: sessionId,
    max_chars: characterLimit(LEAST_OF_CATCH_UP)
      .default(DEFAULT_CHARS)
      .describe('Longest answer you want, in characters; `omitted` counts the rest.'),
  }),
  output: answer,
  refuses: [],
  async run(context, { max_chars }) {
    const member = teamOf(context)
    const cursor = seenCursorOf(context.services, member)
    const [head, teams, questions, tasks, work, proposals, doc, last] = await Promise.all([
      headOf(context, member, cursor, max_chars),
      participantsSection(context, member),
      questionSections(context, member),
      tasksSection(context, member),
      workSection(context),
      proposalsSection(context, member, cursor),
      docSection(context, member, cursor),
      lastMessagesSection(context, member),
    ])
    return assemble(head, [teams, ...questions, ...tasks, work, proposals, doc, last], max_chars)
  },
})

const headOf = async (
  { services, queries, call }: Context,
  { session: { id }, teamId, teamName }: Member,
  cursor: number,
  limit: number,
) => {
  const [overview, [peeked]] = await Promise.all([
    services.overviewOf(id),
    peekedBy(queries, [{ sessionId: id, teamId, after: cursor, addressedAfter: cursor }]),
  ])
  const { unread, addressed, lastCursor } = peeked!
  const { title, description, status, archivedAt, createdAt, convenerTeamId } = overview!.session
  const shown = cutText(description, Math.floor(limit * DESCRIPTION_SHARE))
  const forked_from = forkedFrom(overview!.session, baseOf({ call, services }))
  return {
    session: {
      session_id: id,
      title: cutText(title, Math.floor(limit * TITLE_SHARE)),
      description: shown,
      ...(shown !== description && { truncated: { description: description.length } }),
      status,
      archived_at: archivedAt,
      created_at: createdAt,
      ...(forked_from && { forked_from }),
    },
    you: {
      handle: teamId,
      team_name: teamName,
      is_convener: teamId === convenerTeamId,
      cursor,
      unread,
      addressed,
      last_cursor: lastCursor,
    },
  }
}

/** Each section may take its share of what the sections before it have left; `omitted` counts the rows that did not fit. */
const assemble = (head: object, sections: readonly CatchUpSection[], limit: number): z.output<typeof answer> => {
  const values: Record<string, unknown> = {}
  const omitted: Record<string, number> = {}
  let left = limit - jsonLength(head) - jsonLength({ omitted: Object.fromEntries(sections.map(({ name }) => [name, 9_999_999])) })
  for (const { name, share, total, within } of sections) {
    const key = jsonLength(name) + 2
    const { value, rows } = within(Math.floor(left * share) - key)
    values[name] = value
    left -= jsonLength(value) + key
    if (rows < total) omitted[name] = total - rows
  }
  return { ...head, ...values, ...(Object.keys(omitted).length > 0 && { omitted }) } as z.output<typeof answer>
}
