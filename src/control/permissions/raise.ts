// Raises of permission that agents ask for.
import { refuse } from '../../core/errors.ts'
import type { Context } from '../../operations/context.ts'
import type { Session } from '../../stores/sessions.ts'
import type { PermissionMode } from '../schemas.ts'

/** An agent wants a session, its own or one below it, to be allowed more than itself. */
export const refuseRaise = async (_context: Context, session: Session, mode: PermissionMode): Promise<void> =>
  refuse('forbidden', `An agent gives no more permission than it has itself, and ${mode} is more. Ask a person to change the mode.`, {
    session_id: session.id,
    permission_mode: mode,
  })
