// The convener owes the session its conclusion. It can hand this over; once it is gone, any team can take it up.
import { z } from 'zod'
import { refuse } from '../core/errors.ts'
import { authorOf, person } from '../operations/callers.ts'
import type { Context } from '../operations/context.ts'
import { hasPosted } from '../stores/events.ts'
import { roster, type Participant } from '../stores/members.ts'
import { setConvener } from '../stores/sessions.ts'
import { isConvener } from './who-may.ts'
import { writableSession } from './preconditions.ts'
import { participantOf } from './roster.ts'
import { nameOrHandle, op, sessionId, time } from './schemas.ts'
import { teamByWord } from './team-by-word.ts'
import { team } from './team-caller.ts'

// A convener counts as gone after this many times DISCONNECTED_AFTER of silence (by default ten minutes): an agent that crashed never
// leaves, and one that thinks for some minutes must not lose its role.
const GONE_AFTER_SILENCES = 10

const goneAfter = ({ config }: Pick<Context['services'], 'config'>) => config.DISCONNECTED_AFTER * GONE_AFTER_SILENCES

/** A convener that was not seen since then (ms) is gone, unless it has posted. */
export const goneBefore = (services: Pick<Context['services'], 'clock' | 'config'>): number =>
  services.clock.now() - goneAfter(services) * 1000

/** Refuses with 409 for the convener's own handle or name, whoever calls: a convener that handed over and asks again learns that it is done.
 *  403 for other teams while the convener is there, 404 for a handle or name that is not present. */
export const transferConvener = op({
  name: 'transfer_convener',
  summary:
    'Make another team the convener, who owes the conclusion. For the convener; for any team once the convener has left or has long been silent.',
  route: ['POST', '/sessions/:session_id/convener'],
  callers: [team, person],
  effect: 'write',
  searchHint: 'hand over the convener role',
  destructive: true,
  example: { to: "Bea's Team" },
  input: z.strictObject({
    session_id: sessionId,
    to: nameOrHandle.describe('The handle or name of a team that is present.'),
  }),
  output: z.object({ convener: z.object({ team_id: z.uuid(), team_name: z.string() }), at: time }),
  refuses: ['session_closed', 'forbidden', 'not_found', 'conflict'],
  async run(context, { to }) {
    const session = writableSession(context)
    const teams = await roster(context.queries, session.id)
    const present = teams.filter(({ leftAt }) => leftAt === null)
    const next = teamByWord(present)(to)
    if (next && next.teamId === session.convenerTeamId) return refuse('conflict', `${next.teamName} is already the convener.`)
    const convener = teams.find(({ teamId }) => teamId === session.convenerTeamId)
    if (context.caller.kind === 'team' && !isConvener(context, session)) await refuseTakeOver(context, convener)
    if (!next) return refuse('not_found', 'No team with that handle or name is present. list_participants has both.', { field: 'to' })
    await setConvener(context.queries, session.id, next.teamId)
    const by = authorOf(context.caller).name
    const { at } = await context.append(session.id, { event: 'convener_changed', team: next.teamName, team_id: next.teamId, by })
    return { convener: { team_id: next.teamId, team_name: next.teamName }, at }
  },
})

const refuseTakeOver = async ({ services, queries }: Context, convener: Participant | undefined): Promise<void> => {
  // No convener yet: a person opened the session, and its teams joined while it was closed, to read.
  if (!convener || convener.leftAt) return
  const row = participantOf(services, convener, { convenerTeamId: convener.teamId })
  const since = goneBefore(services)
  // A sleeping convener counts as absent: a message wakes it, but its agent may not come for long.
  const isAway = row.status === 'disconnected' || row.status === 'asleep'
  // A convener that posts is at work, even if it does not poll.
  if (isAway && Date.parse(row.last_seen_at) < since && !(await hasPosted(queries, convener.sessionId, convener.teamId, since))) return
  refuse(
    'forbidden',
    isAway
      ? `${convener.teamName} convenes this session and last polled at ${row.last_seen_at}. Ask it in the feed to hand over. Once it has neither polled nor posted for ${goneAfter(services)} s, any team may take over.`
      : `${convener.teamName} convenes this session and is still here. Ask it in the feed to hand over.`,
  )
}
