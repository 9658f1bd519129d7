// A session for people outside: a read-only link that a person makes and revokes (doors/http/share-link.ts has what it opens).
import { z } from 'zod'
import { dropShare, putShare } from '../stores/shares.ts'
import { authorOf, personOnly } from './who-may.ts'
import { op, sessionId } from './schemas.ts'

const FOR_PEOPLE = 'Only a signed-in person can share a session, on its page.'

/** Beyond specification 1, only for people (403): the link is shown once, and a session has one at a time. */
export const shareSession = op({
  name: 'share_session',
  summary: "Make the session's read-only link, for people outside. A previous link stops working.",
  route: ['POST', '/sessions/:session_id/share'],
  access: 'room',
  effect: 'write',
  issues: 'url',
  restOnly: true,
  peopleOnly: true,
  input: z.strictObject({ session_id: sessionId }),
  output: z.object({ url: z.string() }),
  refuses: ['forbidden'],
  async run(context, { session_id }) {
    personOnly(context, FOR_PEOPLE)
    const handle = crypto.randomUUID()
    const secret = context.secretFor(handle)
    await putShare(context.queries, session_id, { handle, secret }, authorOf(context).name)
    return { url: `${context.call.base?.() ?? ''}/shared/${handle}.${secret}` }
  },
})

/** Beyond specification 1, only for people (403): it takes effect at once, and ends open streams within a second. */
export const unshareSession = op({
  name: 'unshare_session',
  summary: "Revoke the session's read-only link: it stops working.",
  route: ['POST', '/sessions/:session_id/unshare'],
  access: 'room',
  effect: 'write',
  restOnly: true,
  peopleOnly: true,
  input: z.strictObject({ session_id: sessionId }),
  output: z.object({ url: z.null() }),
  refuses: ['forbidden'],
  async run(context, { session_id }) {
    personOnly(context, FOR_PEOPLE)
    await dropShare(context.queries, session_id)
    return { url: null }
  },
})
