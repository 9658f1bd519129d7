// Posting: the checks that the log does not make itself, the append, and what its outcome means for the poster.
import { z } from 'zod'
import { refuse, unauthorized } from '../../core/errors.ts'
import { secondsSince } from '../../core/runtime/metrics.ts'
import { nameKey } from '../../core/text/text.ts'
import type { Appended, Draft } from '../../log/append.ts'
import { person } from '../../operations/callers.ts'
import type { Context } from '../../operations/context.ts'
import { notifyPeople } from '../../notices/notify-people.ts'
import { refuseOtherUse } from '../../operations/idempotency.ts'
import { eventById, type Event } from '../../stores/events.ts'
import { findAnswer } from '../../stores/idempotency.ts'
import { isPresent } from '../../stores/members.ts'
import { addressees, addresseesNamed, namesLeftBefore, returnedAs, type Addressees } from './addressees.ts'
import { missedBefore, refuseUnread } from './crossing.ts'
import { refuseRepetition } from '../loops.ts'
import { existingMessage, existingSession, refuseBeyondEnd, refuseClosed, stillOpen } from '../preconditions.ts'
import { cursor, messageContent, op, sessionId, time } from '../schemas.ts'
import { team } from '../team-caller.ts'

/** Posts a message of 1 character to 32 KiB; over REST the body may be the text itself. 403 for a closed session, 404 for an unknown
 *  `reply_to`, 409 when others have spoken after `expected_cursor` (400 when that is past the end), 429 while LOOP_GUARD=slow holds
 *  repetitions back. `missed` counts what others said that the team was not handed; `warnings` names the teams in `to` that have left. */
export const postMessage = op({
  name: 'post_message',
  summary: 'Say something to all teams (markdown). Go on waiting from your last next_cursor, not from the cursor of this answer.',
  route: ['POST', '/sessions/:session_id/messages'],
  callers: [team, person],
  effect: 'append',
  alwaysLoad: true,
  retryMayChange: ['expected_cursor'],
  textBody: 'content',
  example: { content: { text: 'I take the lexer.' }, expected_cursor: '$CURSOR' },
  input: z.strictObject({
    session_id: sessionId,
    content: messageContent,
    type: z.literal('chat', { error: 'must be "chat"; all other types are the server\'s' }).default('chat'),
    reply_to: z.string().max(64).optional().describe('The id of the message you answer.'),
    to: addressees.optional().describe('Handles or names of the teams or people you address; all teams see it.'),
    expects_reply: z.boolean().optional().describe('A question to those in `to`.'),
    expected_cursor: cursor
      .optional()
      .describe('Your last next_cursor: if others spoke since, nothing is posted (409 unread) and you get what they said.'),
  }),
  output: z.object({
    message_id: z.uuid(),
    cursor: z.int(),
    at: time,
    missed: z.int().optional(),
    warnings: z.array(z.string()).optional(),
  }),
  refuses: ['session_closed', 'not_found', 'unread', 'loop_suspected'],
  async run(context, input) {
    const { services } = context
    const speaker = speakerOf(context)
    if (!speaker.teamId) await existingSession(context.queries, input.session_id)
    let addressed: Addressees | undefined
    try {
      addressed = await checkedAddressees(context, speaker, input)
    } catch (refusal) {
      const earlier = await earlierAnswer(context, input.session_id, speaker.teamId)
      if (earlier) return replayOf(context, input, earlier)
      throw refusal
    }
    const queued = performance.now()
    const answer = await services.groupCommit.post(draftOf(context, speaker, input, addressed))
    services.metrics.postSeconds.observe(secondsSince(queued))
    return answerOf(context, input, speaker, answer)
  },
})

interface PostInput {
  session_id: string
  content: { text: string }
  reply_to?: string | undefined
  to?: string[] | undefined
  expects_reply?: boolean | undefined
  expected_cursor?: number | undefined
}

interface Speaker {
  author: 'team' | 'person'
  authorName?: string // a team's is on its roster row
  teamId?: string
  holder: string
  credentialId?: string | undefined
}

const speakerOf = ({ caller }: Context): Speaker => {
  if (caller.kind === 'team') {
    const { teamId } = caller.member
    return { author: 'team', teamId, holder: teamId, credentialId: caller.keyId }
  }
  if (caller.kind !== 'person') throw new Error('perform lets only teams and people through to here')
  return { author: 'person', authorName: caller.name, holder: `person:${caller.name}`, credentialId: caller.signInId }
}

/** Those addressed. Refuses what the log does not judge: repetitions, and arguments that name nothing. */
const checkedAddressees = async (context: Context, speaker: Speaker, input: PostInput) => {
  const { session_id, content, reply_to, to, expects_reply } = input
  await refuseRepetition(context, session_id, content.text)
  const answered = reply_to === undefined ? undefined : await existingMessage(context, session_id, reply_to, 'reply_to')
  if (expects_reply && !to) refuse('invalid_request', 'expects_reply: name those whom you ask in `to`.', { field: 'expects_reply' })
  const named = to && (await addresseesNamed(context.queries, session_id, to))
  if (expects_reply && named && isSpeakerAlone(named, speaker))
    refuse('invalid_request', 'to: a question to yourself alone waits for nobody. Name those whom you ask, or leave out expects_reply.', {
      field: 'to',
    })
  return expects_reply || !answered ? named : withAsker(context, session_id, speaker, answered, named)
}

const isSpeakerAlone = ({ teams, people }: Addressees, { teamId, authorName = '' }: Speaker) =>
  teams.every((handle) => handle === teamId) && people.every((name) => nameKey(name) === nameKey(authorName))

// An answer is meant for the team that asked, which may have left and come back since, under a new handle. A question would ask it, too.
const withAsker = async (
  { queries }: Context,
  sessionId: string,
  { teamId: own }: Speaker,
  { posted_by_team_id: asker }: Event,
  named: Addressees | undefined,
) => {
  const here = typeof asker === 'string' ? await returnedAs(queries, sessionId, asker) : undefined
  if (here === undefined || here === own || named?.teams.includes(here)) return named
  return { people: [], ...named, teams: [...(named?.teams ?? []), here] }
}

// People have no handles: their names stand in the content. A message to people alone has a list of teams all the same, which is empty: by
// it questions are found (the index events_addressed).
const draftOf = (
  { idempotency }: Context,
  speaker: Speaker,
  input: PostInput,
  { teams: to, people = [] }: Partial<Addressees> = {},
): Draft => ({
  ...speaker,
  sessionId: input.session_id,
  type: 'chat',
  content: people.length > 0 ? { ...input.content, to_people: people } : input.content,
  replyTo: input.reply_to,
  to,
  expectsReply: input.expects_reply || undefined,
  expectedCursor: input.expected_cursor,
  idempotency,
})

const answerOf = async (context: Context, input: PostInput, { holder }: Speaker, answer: Appended): Promise<PostAnswer> => {
  const { session_id: sessionId, expected_cursor } = input
  switch (answer.outcome) {
    case 'unauthorized':
      return unauthorized()
    case 'closed':
      return refuseClosed(await existingSession(context.queries, sessionId))
    case 'beyond':
      return refuseBeyondEnd('expected_cursor', answer.lastSequence)
    case 'unread':
      return refuseUnread(context, { sessionId, holder, cursor: expected_cursor!, lastSequence: answer.lastSequence })
    case 'replayed':
      return replayOf(context, input, answer)
    case 'appended': {
      const { id: message_id, sequence: cursor, at, to } = answer.event
      const missed = missedBefore(context, input, cursor) // at once: what a team missed is asked for its posts in their order (log/missed.ts)
      await notifyOfQuestion(context, answer.event, sessionId)
      return { message_id, cursor, at, ...(await missed), ...(await warningsFor(context, sessionId, to as string[] | undefined, at)) }
    }
  }
}

interface PostAnswer {
  message_id: string
  cursor: number
  at: string
  missed?: number
  warnings?: string[]
}

// A retry gets the same warnings: a team that leaves later was there when the message was posted.
const warningsFor = async ({ queries }: Context, sessionId: string, to: string[] | undefined, at: string) => {
  const gone = to ? await namesLeftBefore(queries, sessionId, to, at) : []
  return gone.length > 0 ? { warnings: gone.map((name) => `${name} has left this session and will not read the message.`) } : {}
}

// Runs after the statement that posts: if the process dies in between, the people asked are not notified until the post is sent again.
const notifyOfQuestion = async ({ queries }: Context, { id: about, to_people, expects_reply }: Event, sessionId: string) => {
  if (to_people && expects_reply) await notifyPeople(queries, [{ kind: 'question', sessionId, about }])
}

const replayOf = async (
  context: Context,
  input: PostInput,
  earlier: { operation: string; bodyHash: string; answer: unknown },
): Promise<PostAnswer> => {
  refuseOtherUse(context.idempotency!, earlier)
  context.replayed()
  const posted = earlier.answer as PostAnswer
  const event = await eventById(context.queries, input.session_id, posted.message_id)
  if (event) await notifyOfQuestion(context, event, input.session_id)
  return { ...posted, ...(await warningsFor(context, input.session_id, event?.to as string[] | undefined, posted.at)) }
}

// Refusals have an order: the idempotency key's earlier answer comes first, then a team that has left, then a closed session, and only
// then bad arguments. Asked only about a post with bad arguments, because the log itself decides the first three for every other post.
const earlierAnswer = async ({ queries, idempotency }: Context, sessionId: string, team: string | undefined) => {
  const earlier = idempotency && (await findAnswer(queries, { scope: sessionId, ...idempotency }))
  if (earlier) return earlier
  if (team && !(await isPresent(queries, sessionId, team))) return unauthorized()
  stillOpen(await existingSession(queries, sessionId))
  return undefined
}
