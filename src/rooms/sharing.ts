// A read-only link to a session for people outside, which a person makes and revokes (doors/http/share-link.ts has the paths that it
// opens).
import { z } from 'zod'
import { dropShare, putShare } from '../stores/shares.ts'
import { op, sessionId } from './schemas.ts'
import { authorOf, person } from '../operations/callers.ts'
import { baseOf } from '../operations/context.ts'
import { team } from './team-caller.ts'

const onlyFor = 'Only a signed-in person can share a session, on its page. Ask your user.'

/** Only for people (403). The link is shown once, and a session has one at a time. */
export const shareSession = op({
  name: 'share_session',
  summary: "Make the session's read-only link, for people outside. A previous link stops working.",
  route: ['POST', '/sessions/:session_id/share'],
  callers: [team, person],
  effect: 'write',
  issues: 'url',
  derivedAs: 'share_session',
  restOnly: true,
  peopleOnly: true,
  onlyFor,
  input: z.strictObject({ session_id: sessionId }),
  output: z.object({ url: z.string() }),
  refuses: ['forbidden'],
  async run(context, { session_id }) {
    const handle = crypto.randomUUID()
    const secret = context.secretFor(handle)
    await putShare(context.queries, session_id, { handle, secret }, authorOf(context.caller).name)
    return { url: `${baseOf(context)}/shared/${handle}.${secret}` }
  },
})

/** Only for people (403). Takes effect at once, and ends open streams within a second. */
export const unshareSession = op({
  name: 'unshare_session',
  summary: "Revoke the session's read-only link: it stops working.",
  route: ['POST', '/sessions/:session_id/unshare'],
  callers: [team, person],
  effect: 'write',
  restOnly: true,
  peopleOnly: true,
  onlyFor,
  input: z.strictObject({ session_id: sessionId }),
  output: z.object({ url: z.null() }),
  refuses: ['forbidden'],
  async run(context, { session_id }) {
    await dropShare(context.queries, session_id)
    return { url: null }
  },
})
