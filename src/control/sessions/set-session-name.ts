// A program names the one session that its key is for.
import { z } from 'zod'
import { authorOf, key, person } from '../../operations/callers.ts'
import { refuse } from '../../core/errors.ts'
import { NOBODY, type KeyRow } from '../../core/key-scopes.ts'
import { stillOpen } from '../../rooms/preconditions.ts'
import { title } from '../../rooms/schemas.ts'
import { changeMetadata } from '../../rooms/session-lifecycle.ts'
import { lockSession } from '../../stores/sessions.ts'
import { op, toolRoute } from '../schemas.ts'
import { refuseRenaming } from './may-rename.ts'

const OWN_NAME: KeyRow = {
  ...NOBODY,
  sess: 'own',
  instead: (wanted) => `It takes ${wanted}; update_session names a session with one of the scope full.`,
}

/** The session is the one that the key belongs to. Everybody there is told, as of every change of a title. 403 in a concluded session. */
export const setSessionName = op({
  name: 'set_session_name',
  summary: 'Name the session that your key (scope sess) is for.',
  route: toolRoute('set_session_name'),
  callers: [key, person], // a person gets the answer that a full key gets
  keyRow: OWN_NAME,
  effect: 'write',
  searchHint: 'name your own session',
  destructive: true,
  changesResources: true,
  example: { name: 'Empty files' },
  input: z.strictObject({ name: title }),
  output: z.object({ session_id: z.uuid(), title: z.string() }),
  refuses: ['forbidden', 'session_closed', 'rate_limited', 'not_found'],
  async run(context, { name }) {
    const { caller, queries } = context
    if (caller.kind !== 'key') return refuse('forbidden', 'Only a key that is made for one session names it so. Use update_session.')
    const session = await lockSession(queries, caller.key.sessionId!)
    if (!session)
      return refuse('not_found', 'The session of this key is gone. Ask your user for a key of the session that you are to work in.')
    await refuseRenaming(context, stillOpen(session))
    const now = await changeMetadata(context, session, { title: name, reason: `set by ${authorOf(caller).name}` })
    return { session_id: session.id, title: now.title }
  },
})
